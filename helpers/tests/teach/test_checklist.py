"""Each line of the checklist of the week: done at its bound, open just below."""

import hashlib
import json

from conftest import published

from helpers.measure import evalset
from helpers.measure.evalset import Document, EvalSet, Judgment, Query
from helpers.teach import checklist


def small(folder, queries=30, documents=4, reached=2, read=5, runs=("a", "fixed")):
    """Return a set that just meets the checklist, and write what it needs into `folder`."""
    asked = {f"q{n}": Query(f"q{n}", "a", ()) for n in range(queries)}
    judged = [Judgment("q0", f"d{n}", 2) for n in range(reached)]
    held = {f"d{n}": Document(f"d{n}", "", "x") for n in range(documents)}
    evals = EvalSet(folder, held, asked, [*judged, *judged, Judgment("q0", "d3", 0)])
    (folder / "runs").mkdir(parents=True)
    for name in runs:
        (folder / "runs" / f"{name}.trec").touch()
    (folder / "runs" / "d.json").touch()
    saved = published() | {"run": {"sha256": hashlib.sha256(b"").hexdigest()}}
    for part, made in (("corpus", evals.corpus_hash()), ("queries", evals.queries_hash())):
        saved[part] = saved[part] | {"sha256": made}
    (folder / "results.json").write_text(json.dumps(saved))
    notes = f"# Baseline\nnDCG@10 of {evals.name}: .5\n## unknown\nwords\n## q9\nWords: a = b\n"
    (folder / "notes.md").write_text(notes + "".join(f"## q{n}\nread\n" for n in range(read)))
    return evals


WEEK = """\
- [x] a corpus: 4 documents
- [x] 30 labelled queries or more: 30
- [x] coverage of 50 % or more: 50 %
- [x] retrievals saved: a, fixed
- [x] metrics pass their checks: 5 of 5
- [x] results.json holds the scores of these documents and labels
- [x] the baseline told in a README or in notes.md: nDCG@10 of mine
- [x] failure modes written down in notes.md: 5 of 5 queries

Can you honestly say:

- I can implement nDCG and MRR without looking them up.
- I can defend starting with BM25.
- I have a measured baseline."""
METRICS = {"reciprocal_rank", "hit", "recall", "dcg", "ndcg"}
STALE = "results.json holds the scores of these documents and labels"
OPEN = [  # (what is changed, the lines that are open)
    ({"queries": 29}, ["30 labelled queries or more: 29"]),
    ({"reached": 1}, ["coverage of 50 % or more: 25 %"]),
    ({"documents": 3, "reached": 1}, ["coverage of 50 % or more: 33 %"]),
    ({"runs": ["fixed"]}, ["retrievals saved: fixed"]),
    ({"runs": []}, ["retrievals saved: none, run session B", STALE]),
    ({"read": 4}, ["failure modes written down in notes.md: 4 of 5 queries"]),
]


def open_lines(evals, passed=METRICS):
    """Return the lines of the checklist that are not done."""
    lines = checklist.week_checklist(evals, passed).split("\n")
    return [line.removeprefix("- [ ] ") for line in lines if line.startswith("- [ ]")]


def test_the_checklist_is_done_at_its_bounds_and_open_just_below(tmp_path):
    evals = small(tmp_path / "learn" / "mine")
    assert checklist.week_checklist(evals, METRICS | {"bm25"}) == WEEK
    assert open_lines(evals, {"dcg", "bm25"}) == ["metrics pass their checks: 1 of 5"]
    for n, (change, lines) in enumerate(OPEN):
        assert open_lines(small(tmp_path / f"{n}" / "learn" / "mine", **change)) == lines, change
    path = evals.folder / "results.json"
    saved = json.loads(path.read_text())
    other = [saved | {part: saved[part] | {"sha256": "0"}} for part in ("corpus", "queries", "run")]
    for page in ("", "{}", *map(json.dumps, other)):
        path.write_text(page)
        assert open_lines(evals) == [STALE]


def test_the_baseline_is_told_by_measure_and_name_on_one_page(tmp_path, monkeypatch):
    line = "the baseline told in a README or in notes.md: nDCG@10 of mine"
    (tmp_path / "README.md").write_text("# House\nnDCG@10 of mine")
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "README.md").write_text("# mine\nnDCG@10, copied")
    for n, (folder, page, words, told) in enumerate((
        ("learn", "notes.md", "nDCG@10 of others", False),
        ("learn", "notes.md", "MRR of mine", False),
        ("learn", "README.md", "# mine\nnDCG@10", True),
        ("learn", "README.md", "# mine\nMRR", False),
        ("learn", "README.md", "# mine\nnDCG@10, copied", False),  # copied, not told
        ("sets", "notes.md", "", True),  # the workbook's own page says it
    )):  # fmt: skip
        monkeypatch.setattr(evalset, "DEFAULT", tmp_path / "evals")
        evals = small(tmp_path / str(n) / folder / "mine")
        (evals.folder / "notes.md").unlink()
        (evals.folder / page).write_text(words)
        assert (line not in open_lines(evals)) == told, (folder, page, words)
