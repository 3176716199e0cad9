"""The cases that answers are asked, and what the known mistakes answer: both say who passes."""

import zlib

import pytest

from notebooks import check
from notebooks.check import (
    agreement,
    answers,
    bm25,
    chunking,
    labels,
    measures,
    recursive,
    statistics,
    values,
    verdict,
)

from .exercises import checks_of, known_mistakes

MISTAKEN = {  # a digest of what the known mistakes answer
    "cohen_kappa": 3103704844,
    "gwet_ac1": 4093531209,
    "f1": 713572909,
    "bm25_score": 261812891,
    "okapi_idf": 2167890142,
    "search": 2879694342,
    "to_documents": 2807616329,
    "chunk_fixed": 2315315293,
    "chunk_paragraphs": 96866072,
    "windows": 3091150078,
    "coverage": 1738355758,
    "jaccard": 3388618192,
    "query_groups": 2118771265,
    "word_overlap": 2276223029,
    "average_precision": 641215397,
    "dcg": 2421706931,
    "hit": 921442938,
    "ndcg": 2651835719,
    "recall": 1148733595,
    "reciprocal_rank": 668785748,
    "split_recursive": 1255828762,
    "holm": 3744710137,
    "sign_flip": 1891587586,
}
UNORDERED = ("okapi_idf", "query_groups")  # their answers are sets, or dicts made from sets
MODULES = (agreement, answers, bm25, chunking, labels, measures, recursive, statistics)
NAMES = [name for name in checks_of(*MODULES) if name != "bootstrap"]
ASKED = {  # hand-made cases, random ones, and a digest of their arguments
    "cohen_kappa": (7, 100, 2115146793),
    "gwet_ac1": (6, 100, 2391765384),
    "f1": (10, 200, 3013801088),
    "bm25_score": (8, 200, 2336944460),
    "okapi_idf": (6, 200, 3353520779),
    "search": (11, 100, 4017910407),
    "to_documents": (10, 100, 669290302),
    "chunk_fixed": (6, 60, 2345635498),
    "chunk_paragraphs": (12, 100, 1597467101),
    "windows": (9, 200, 2811310575),
    "coverage": (6, 200, 482867627),
    "jaccard": (11, 100, 2697368026),
    "query_groups": (8, 200, 2607828872),
    "word_overlap": (10, 200, 2201492929),
    "average_precision": (8, 200, 4288357868),
    "dcg": (7, 100, 820733022),
    "hit": (8, 200, 3810956760),
    "ndcg": (12, 200, 763286147),
    "recall": (7, 200, 4201001699),
    "reciprocal_rank": (9, 200, 3572975230),
    "split_recursive": (7, 60, 3910037876),
    "holm": (8, 100, 3465893766),
    "sign_flip": (9, 60, 3646104615),
}


def asked(name: str, monkeypatch) -> tuple[list, list]:
    """Return the hand-made and the random cases of a check."""
    kept = []
    with monkeypatch.context() as patch:
        patch.setattr(verdict, "give", lambda *args, **options: kept.extend(args[2:4]))
        getattr(check, name)(len)
    hand, drawn = kept
    return hand, drawn


def digest(cases: list) -> int:
    """Return a number that any other argument, in any case, would change."""
    text = "\n".join(values.shown(case.args) for case in cases)
    return zlib.crc32(text.encode())


@pytest.mark.parametrize("name", NAMES)
def test_an_exercise_is_asked_the_same_cases_as_ever(name, monkeypatch):
    """Whoever changes a case on purpose writes its new row here."""
    hand, drawn = asked(name, monkeypatch)
    assert (len(hand), len(drawn), digest([*hand, *drawn])) == ASKED[name]


def mistaken(name: str, monkeypatch) -> int:
    """Return a number that any other answer of a known mistake would change."""
    monkeypatch.setattr(verdict, "STEPS", 20_000)  # for those that never end
    hand, drawn = asked(name, monkeypatch)
    lines = []
    for sentence, wrong in known_mistakes(name, monkeypatch):
        for case in [*hand, *drawn[:10]]:
            got = verdict.called(wrong, case)[0]
            raised = isinstance(got, values.Raised)
            answer = values.shown(type(got.error) if raised else got)
            lines.append(sentence + ("".join(sorted(answer)) if name in UNORDERED else answer))
    return zlib.crc32("\n".join(lines).encode())


@pytest.mark.parametrize("name", NAMES)
def test_the_known_mistakes_of_an_exercise_answer_as_ever(name, monkeypatch):
    """A mistake that is another one no longer deserves its sentence."""
    assert mistaken(name, monkeypatch) == MISTAKEN[name]
