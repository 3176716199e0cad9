"""What compare says of a run that is not what its maker takes it for: a table that is played."""

import gzip
import json
import sys

import pytest
from conftest import write_rows

from helpers import __main__ as commands
from helpers.measure import evalset, files, runs, stats

BODY = "The answer to number {} stands here. " + "Nothing of it stands in this sentence. " * 4


def answers(n):
    """Return the full and the useful answer of query n."""
    return f"d{n:02}", f"d{(n + 40) % 80:02}"


def placed(order):
    return [(doc_id, 200.0 - place) for place, doc_id in enumerate(order)]


def ranking(n):
    """Return all documents: the full answer at rank 1 to 4, the useful one not far below."""
    others = [f"d{(m * 7 + n) % 80:02}" for m in range(80)]
    others = [doc_id for doc_id in others if doc_id not in answers(n)]
    for doc_id, place in zip(answers(n), (n % 4, n % 4 + n % 5), strict=True):
        others.insert(place, doc_id)
    return placed(others)


BASE = {f"q{n:02}": ranking(n) for n in range(34)}  # the last four are of the test half


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a set whose baseline ranks whole documents as passages; its first ten are judged."""
    folder, asked, labels = tmp_path_factory.mktemp("made"), [], []
    for n, (query_id, ranked) in enumerate(BASE.items()):
        grades = dict.fromkeys((d for d, _ in ranked[:10]), 0) | dict(
            zip(answers(n), (2, 1), strict=True)
        )
        query = {"query_id": query_id, "query": f"number {n}", "relevant_doc_ids": answers(n)}
        asked.append(query | {"split": "dev" if n < 30 else "test"})
        for doc_id, grade in grades.items():
            quote = {"evidence": f"number {int(doc_id[1:])} stands"} if grade else {}
            labels.append({"query_id": query_id, "doc_id": doc_id, "relevance": grade} | quote)
    texts = ({"doc_id": f"d{n:02}", "title": f"t{n}", "text": BODY.format(n)} for n in range(80))
    write_rows(folder / "corpus.jsonl", *texts)
    write_rows(folder / "retrieval_queries.jsonl", *asked)
    write_rows(folder / "judgments.jsonl", *labels)
    evals = evalset.load(folder)
    chunks = [
        {"doc_id": d, "chunk_idx": 0, "start": 0, "end": len(at.retrieval_text), "n_tokens": 45}
        for d, at in evals.documents.items()
    ]
    files.write_jsonl(folder / "chunks" / "fixed.jsonl", chunks)
    runs.save(evals, "fixed", {q: [(f"{d}#0", s) for d, s in r] for q, r in BASE.items()}, BASE, {})
    return evals


# How a run goes wrong: each function returns {name of a file: its content}, the run first.


def trec(run):
    lines = (
        f"{query_id} Q0 {doc_id} {rank} {score!r} t\n"
        for query_id, ranked in run.items()
        for rank, (doc_id, score) in enumerate(ranked, 1)
    )
    return {"mine.trec": "".join(lines)}


def each(change):
    """Change each list of the baseline by its query's number."""
    return trec({q: change(n, ranked) for n, (q, ranked) in enumerate(BASE.items())})


def scores(change):
    return each(lambda n, ranked: [(d, change(d, score)) for d, score in ranked])


def documents(change):
    return each(lambda n, ranked: [(change(d), score) for d, score in ranked])


def rows(result, query_ids=tuple(BASE)):
    """Make JSON lines of what `result` says of a document and its score."""
    run = {q: [result(*pair) for pair in BASE[q]] for q in query_ids}
    return {"mine.jsonl": files.as_lines({"query_id": q, "results": r} for q, r in run.items())}


def lines(change, part=""):
    """Make JSON lines of each list of the baseline, changed, by passage where `part` is one."""
    run = {q: change(n, ranked) for n, (q, ranked) in enumerate(BASE.items())}
    run = {q: [(d + part, s) for d, s in ranked] for q, ranked in run.items()}
    return {"mine.jsonl": files.as_lines({"query_id": q, "results": r} for q, r in run.items())}


def spans(start, end):
    return rows(lambda d, s: {"doc_id": d, "start": start, "end": end, "score": s})


def ideal(n, ranked):
    return placed(sorted((d for d, _ in ranked), key=lambda d: (*answers(n), d).index(d)))


def turned(n, ranked):
    return placed(d for d, _ in ranked[::-1])


def uneven(n, ranked):
    """Return what ten passages leave of a list, where several are of one document."""
    return ranked[: 2 + n % 6]


def halved(n, ranked):
    return ranked[: 80 if n % 2 else 50]


def emptied(n, ranked):
    return [] if n < 5 else ranked


def dropped(n, ranked):
    """Return a list with its full answer after rank 10, of the first three queries."""
    return placed([d for d, _ in ranked if d != answers(n)[0] or n > 2] + [answers(n)[0]] * (n < 3))


def again():
    """Return passages 6 to 15 of each list, and the first five as those of a second search."""
    lines = []
    for query_id, ranked in BASE.items():
        for name, found in ((query_id, ranked[5:15]), (f"{query_id}#2", ranked[:5])):
            lines.append({"query_id": name, "results": [(f"{d}#0", s) for d, s in found]})
    return {"mine.jsonl": files.as_lines(lines)}


def card(**facts):
    return {"mine.json": facts}


CHUNKS = rows(lambda d, score: [f"{d}#0", score])
PACKED = gzip.compress(trec(BASE)["mine.trec"].encode())
TEXT, SOME = trec(BASE)["mine.trec"], {q: BASE[q] for n, q in enumerate(BASE) if n >= 10}
STALE, FIXED = card(corpus_sha256="0" * 64), card(chunker="fixed")
CUT = card(chunker="fixed", chunks_sha256="0" * 64)
FEW, WORSE, ALIKE = stats.TOO_FEW, stats.WORSE, stats.SAME_RUN
BITS = ("--decides", "evidence-hit@5")
NOT_WORSE, NO_NEW = ("--gate", "not-worse"), "--no-new-failures"
EVEN, TIED = "its lists are those of the base", "equal scores at ranks 1 to 11 in 34 queries"
NEEDED = "the worst case, -0.116 to +0.116, goes beyond ±0.05, and to show less needs 72 queries"
LOST = "from the first ten: 3 of 30 queries (q00, q01, q02)"
EMPTIED = "Newly without results, though the set has an answer: 5 queries (q00, q01, q02, q03, q04)"
ORDER = "results of 34 queries don't stand in the order of their scores, which decides, the highest"
UNJUDGED = "none of its first ten documents is judged: is it empty, of the other half (--split)"
SHORT = "30 of 30 lists of mine hold fewer than 10 documents, and a place that is empty counts as"
FIVE = "lists of mine end at 5 results, so both are measured there: nDCG@5, RR@5, recall@5, AP@5"
ALONE = "chunk ids count as their documents, and their evidence is not measured: wanted their set"
THERE = ", so both are measured there: recall@50, AP@50"
ENDED = (
    f"lists of mine end at 50 results (17 longer){THERE}; give 80 results a query or, where there"
)
ENDED += ' are no more, say so in its card: "depth": 80'
BEHIND = "(30 queries) stand behind those of the first, and nDCG@10 sees ten of them"
LATER = "results of later searches (q1#2) but not of the first (q1) for 1 query: q00"
RUNS = [  # (what, files, exit status, verdict or "" where it is refused, what is said, more words)
    ("the baseline", trec(BASE), 0, ALIKE, EVEN),
    ("the baseline at a gate", trec(BASE), 0, ALIKE, EVEN, *NOT_WORSE, NO_NEW, "--strict"),
    ("of dev alone", rows(lambda *r: r, [*BASE][:30]), 0, ALIKE, EVEN, *NOT_WORSE, "--strict"),
    ("one of test lost", each(lambda n, r: r if n != 33 else []), 3, FEW, NEEDED, *NOT_WORSE),
    ("one of test turned", each(lambda n, r: r if n != 33 else turned(n, r)), 0, FEW, NEEDED),
    ("a tie, no proof", each(lambda n, r: r[:50]), 3, FEW, NEEDED, *NOT_WORSE, "--strict"),
    ("five emptied", each(emptied), 0, FEW, EMPTIED),
    ("five emptied, guarded", each(emptied), 1, FEW, EMPTIED, NO_NEW),
    ("not worse by 1", each(emptied), 0, stats.SAME, EMPTIED, *NOT_WORSE, "--matters", "1"),
    ("full answers lost", each(dropped), 0, FEW, LOST, NO_NEW),
    ("perfect", each(ideal), 0, stats.BETTER, "| 1.000 | +0."),
    ("reversed, and none judged", each(turned), 2, "", UNJUDGED),
    ("reversed", each(lambda n, r: turned(n, r[:12])), 1, WORSE, "judged@10 differs by 0."),
    ("distances", each(lambda n, r: [(d, -s) for d, s in r[:12]]), 1, WORSE, ORDER),
    ("distances, and none judged", scores(lambda d, s: 201 - s), 2, "", ORDER),
    ("tiny scores", scores(lambda d, s: s * 1e-14), 0, ALIKE, EVEN),
    ("huge scores", scores(lambda d, s: s * 1e300), 0, ALIKE, EVEN),
    ("all tied", scores(lambda d, s: 1), 1, WORSE, TIED),
    ("empty", {"mine.trec": ""}, 2, "", "the run is empty, wanted results for the 34 queries"),
    ("empty, with a card", {"mine.trec": ""} | card(), 2, "", UNJUDGED),
    ("one query", trec({"q01": BASE["q01"]}), 1, WORSE, "29 queries without results, counted as 0"),
    ("ten missing", trec(SOME), 1, WORSE, "10 queries without results, counted as 0: q00, q01,"),
    ("other queries", {"mine.trec": TEXT.replace("q", "x")}, 2, "", "found results for x00,"),
    ("the other half", rows(lambda *r: r, [*BASE][30:]), 2, "", UNJUDGED),
    ("depth 50", each(lambda n, r: r[:50]), 0, FEW, "lists of mine end at 50 results, so both"),
    ("depth 5", each(lambda n, r: r[:5]), 0, f"{FEW} (nDCG@5)", FIVE),
    ("one longer", each(lambda n, r: r[: 5 if n else 9]), 0, f"{FEW} (nDCG@5)", "(1 longer)"),
    ("half of it cut", each(halved), 0, FEW, ENDED),
    ("in JSON lines", lines(halved), 0, FEW, ENDED),
    ("its passages", lines(halved, "#0") | FIXED, 0, FEW, ENDED),
    ("told that it's whole", each(halved) | card(depth=80), 0, FEW, "| recall@100 "),
    ("told where it ends", each(halved) | card(depth=50), 0, FEW, f"{THERE}\n"),
    ("of ten passages", each(uneven), 1, WORSE, SHORT),
    ("the same, told", each(uneven) | card(depth=2), 0, f"{FEW} (nDCG@2)", "end at 2 results"),
    ("other ids", documents(lambda d: f"x{d}"), 2, "", "nothing in it is of this corpus, was it"),
    ("some other ids", documents(lambda d: d.replace("d0", "d")), 2, "", "document d7 is not"),
    ("permuted", documents(lambda d: f"d{(int(d[1:]) * 7 + 3) % 80:02}"), 1, WORSE, "judged@10"),
    ("another corpus' card", trec(BASE) | STALE, 2, "", "mine.json:1: corpus_sha256 is 00"),
    ("stale, of gz", {"mine.trec.gz": PACKED} | STALE, 2, "", "mine.json:1: corpus_sha256 is 00"),
    ("gz", {"mine.trec.gz": PACKED}, 0, ALIKE, EVEN),
    ("gz by another name", {"mine.trec": PACKED}, 2, "", "byte 0x8b is not UTF-8"),
    ("JSON lines as TREC", {"mine.trec": spans(0, 9)["mine.jsonl"]}, 2, "", "found 643 fields"),
    ("spans as floats", spans(0.0, 20.0), 2, "", "0.0 to 20.0 of d00, wanted whole numbers of"),
    ("spans of no quote", spans(0, 20), 0, FEW, "- Evidence: worse, evidence "),
    ("those decide", spans(0, 20), 1, WORSE, "- Evidence: worse, evidence hit@5 1.000 to", *BITS),
    ("no passages", trec(BASE), 2, "", "it or its base ranks no passages", *BITS),
    ("a document first", rows(lambda d, s: [d + "#0:9" * (s < 200), s]), 0, ALIKE, "34 of 2,720"),
    ("chunk ids, no card", CHUNKS, 0, FEW, ALONE),
    ("chunk ids", CHUNKS | FIXED, 0, ALIKE, "Evidence (30 queries with quotes"),
    ("two searches", again() | FIXED, 0, FEW, f"{BEHIND}, so evidence-2000-tokens decides."),
    ("of documents", again(), 1, WORSE, f"{BEHIND}, but it decides: both would have to rank"),
    ("no first search", {"mine.trec": TEXT.replace("q00 Q", "q00#2 Q")}, 0, ALIKE, LATER),
    ("a set without its hash", CHUNKS | FIXED, 0, ALIKE, "the card has no chunks_sha256, so the"),
    ("another chunk set", CHUNKS | CUT, 2, "", "mine.json:1: chunks_sha256 is 00000000"),
    ("an unknown set", CHUNKS | card(chunker="x"), 2, "", "chunker is 'x', wanted the"),
]  # fmt: skip


@pytest.mark.parametrize("row", RUNS, ids=lambda row: row[0])
def test_what_a_degenerate_run_is_told(made, tmp_path, monkeypatch, capsys, row):
    _, content, status, verdict, told, *words = row
    for name, text in content.items():
        if isinstance(text, dict):
            runs.write_card(tmp_path / name, made, {})
            text = json.dumps(json.loads((tmp_path / name).read_text()) | text)
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    monkeypatch.setattr(stats, "DRAWS", 300)
    paths = [tmp_path / [*content][0], "--base", made.folder / "runs" / "fixed.jsonl"]
    line = ["helpers", "compare", *paths, "--evals", made.folder, "--to", tmp_path, *words]
    monkeypatch.setattr(sys, "argv", [*map(str, line)])
    done = commands.main()
    out, err = capsys.readouterr()
    assert (done, bool(out)) == (status, bool(verdict)), out + err
    assert told in out + err
    assert f"## mine: {verdict}\n" in out or not verdict
