"""How the texts of a set are written: counts that tell a tidy collection from one in use."""

import re
from collections import Counter
from collections.abc import Iterable
from statistics import median

from .. import evalset
from ..text import inert

CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]*`|https?://\S+", re.MULTILINE | re.DOTALL)
CONTRACTION = re.compile(
    r"\b(?:\w+(?:n't|'re|'ll|'ve|'d|'m)|(?:it|that|there|what|here|who|let)'s)\b", re.IGNORECASE
)
LINK, OPEN = r"\]\((?:https?://)?|https?://", r"\b(?:TODO|TBD|FIXME)\b"
LOWER_HEADING = re.compile(r"^##+ +(.+)", re.MULTILINE)  # level 1 repeats the title
TONE = ("nobody", "never", "at once")
BY_KIND = (
    *("texts by kind", "documents", "median words", "contractions per 1,000 words"),
    *("links a document", "TODO, TBD or FIXME"),
)


def prose_facts(evals: evalset.EvalSet) -> dict[str, str]:
    """Return what the data card says of all texts, a row for each, inert."""
    plain = [*map(_plain, evals.documents.values())]
    words = map(evals.words, plain)
    run, n_run = _most_frequent(zip(w, w[1:], w[2:], w[3:], strict=False) for w in words)
    outlines = [tuple(h.strip().lower() for h in LOWER_HEADING.findall(body)) for body in plain]
    outline, n_outline = _most_frequent([outline] for outline in outlines if len(outline) > 1)
    alike = f"{inert(' / '.join(outline))}, in {n_outline} documents"
    tone = (f"{word} in {sum(word in body.lower() for body in plain)}" for word in TONE)
    return {
        "most frequent run of four words": f"{inert(' '.join(run))}, in {n_run} documents",
        "most frequent list of headings": alike if n_outline > 1 else "none stands twice",
        "documents with a word of tone": ", ".join(tone),
    }


def prose_by_kind(evals: evalset.EvalSet) -> list[list[str]]:
    """Return a row of BY_KIND, inert, for all documents and, where there are several, each kind."""
    documents = [*evals.documents.values()]
    kinds = sorted({document.kind for document in documents})
    groups = [(kind, [d for d in documents if d.kind == kind]) for kind in kinds]
    groups = [("all", documents), *(groups if len(kinds) > 1 else [])]
    return [[inert(name), *_counts(evals, of)] for name, of in groups]


def _counts(evals: evalset.EvalSet, documents: list[evalset.Document]) -> list[str]:
    """Return what BY_KIND names of some documents."""
    plain, page = [*map(_plain, documents)], "\n".join(document.text for document in documents)
    n, sizes = len(documents), [len(evals.words(body)) for body in plain]
    contractions = 1000 * len(CONTRACTION.findall("\n".join(plain))) / max(1, sum(sizes))
    links, marks = (len(re.findall(mark, page)) for mark in (LINK, OPEN))
    each = f"{median(sizes):,.0f}", f"{contractions:.2f}", f"{links / n:.2f}"
    return [f"{n}", *each, f"{marks}"]


def _plain(document: evalset.Document) -> str:
    """Return the prose of a document: code and addresses are no words."""
    return CODE.sub(" ", document.text.replace("’", "'"))


def _most_frequent(of_documents: Iterable[Iterable[tuple]]) -> tuple[tuple, int]:
    """Return what most documents hold, the first by its words, and how many they are."""
    counts = Counter(part for own in of_documents for part in {*own})
    return min(counts.items(), key=lambda item: (-item[1], item[0]), default=(("none",), 0))
