"""What people read of the results: each line of the checklist, the summary and the data card."""

import hashlib
import json
import re

import nbformat
import pytest
from conftest import published, write_rows

from helpers.measure import evalset, evidence, report, stats, text
from helpers.measure.evalset import Document, EvalSet, Judgment, Query


def test_the_page_is_whole_and_shows_neither_code_nor_prompts():
    new = nbformat.v4
    first = new.new_markdown_cell("# Top & <more> #\nnot this")
    ticks = new.new_output("display_data", {"text/markdown": "- [x] done\n- [ ] open"})
    acts = "<p onclick='ran()'>kept</p><script>ran()</script>"
    raw = new.new_output("display_data", {"text/html": acts})
    code = new.new_code_cell("n = 1", outputs=[ticks, raw], execution_count=1)
    parts = "## Next\n### Not this\n## Appendix\n### How it is\n#### q1\n### Limits"
    page = report.html(new.new_notebook(cells=[code, first, new.new_markdown_cell(parts)]))
    head, _, body = page.partition("<main>")
    assert head.startswith('<!DOCTYPE html>\n<html lang="en">\n<head>')
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-"
    assert "<title>Top &amp; &lt;more&gt; #</title>" in head
    assert f'<meta http-equiv="Content-Security-Policy" content="{policy}action \'none\'">' in head
    assert f"<style>{report.STYLE.read_text(encoding='utf-8')}</style></head>\n<body>\n" in head
    assert page.endswith("\n</main>\n</body>\n</html>\n")
    assert "☑ done" in body and "☐ open" in body
    assert "<p>kept" in body
    assert not any(words in body for words in ("n = 1", "<input", "prompt", "In&nbsp;", "ran()"))
    links = '<li><a href="#How-it-is">How it is</a></li><li><a href="#Limits">Limits</a></li>'
    contents = f'<nav aria-label="Contents of the appendix"><ul>{links}</ul></nav>'
    assert re.search(f'<h2 id="Appendix">.*</h2>{contents}<h3 id="How-it-is">', body)
    short = report.html(new.new_notebook(cells=[first]))
    assert "<nav" not in short and "not this" in short


def test_on_paper_no_table_is_split_and_no_letter_is_smaller_than_nine_points():
    on_paper = report.STYLE.read_text(encoding="utf-8").partition("@media print {")[2]
    rules = {
        rule: {selector.strip() for selector in selectors.split(",")}
        for selectors, rule in re.findall(r"([^{}]+){[^{}]*(break-[^;}]+);", on_paper)
    }
    assert rules["break-inside: avoid"] >= {"table", "tr", "img", "li"}
    assert rules["break-after: avoid"] >= {"h2", "h3", "h4", "caption"}
    sizes = [float(size) for size in re.findall(r"font(?:-size)?: ([\d.]+)pt", on_paper)]
    assert min(sizes) == 9 and len(sizes) > 4 and "size: A4" in on_paper


def small(folder, queries=30, documents=4, reached=2, read=5, runs=("a", "b", "fixed")):
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
    notes = f"# Baseline\nnDCG@10 of {evals.name}: .5\n## unknown\nwords\n"
    (folder / "notes.md").write_text(notes + "".join(f"## q{n}\nread\n" for n in range(read)))
    return evals


WEEK = """\
- [x] a corpus: 4 documents
- [x] 30 labelled queries or more: 30
- [x] coverage of 50 % or more: 50 %
- [x] retrievals saved: a, b, fixed
- [x] metrics pass their checks: 6 of 6
- [x] results.json holds the scores of these documents and labels
- [x] the baseline told in a README or in notes.md: nDCG@10 of mine
- [x] failure modes written down in notes.md: 5 of 5 queries

Say of yourself, truthfully:

- I can implement nDCG and MRR without looking them up.
- I can defend starting with BM25.
- I have a measured baseline."""
METRICS = {"reciprocal_rank", "hit", "recall", "average_precision", "dcg", "ndcg"}
STALE = "results.json holds the scores of these documents and labels"
OPEN = [  # (what is changed, the lines that are open)
    ({"queries": 29}, ["30 labelled queries or more: 29"]),
    ({"reached": 1}, ["coverage of 50 % or more: 25 %"]),
    ({"documents": 3, "reached": 1}, ["coverage of 50 % or more: 33 %"]),
    ({"runs": ["fixed", "a"]}, ["retrievals saved: a, fixed"]),
    ({"runs": []}, ["retrievals saved: none, run session B", STALE]),
    ({"read": 4}, ["failure modes written down in notes.md: 4 of 5 queries"]),
]


def open_lines(evals, passed=METRICS):
    """Return the lines of the checklist that are not done."""
    lines = report.week_checklist(evals, passed).split("\n")
    return [line.removeprefix("- [ ] ") for line in lines if line.startswith("- [ ]")]


def test_the_checklist_is_done_at_its_bounds_and_open_just_below(tmp_path):
    evals = small(tmp_path / "learn" / "mine")
    assert report.week_checklist(evals, METRICS | {"bm25"}) == WEEK
    assert open_lines(evals, {"dcg", "bm25"}) == ["metrics pass their checks: 1 of 6"]
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


MEANS = {"nDCG@10": 0.1234, "MRR@10": 0.2, "hit@1": 0.3, "hit@5": 0.4, "recall@10": 0.5}
FOUND = {
    "corpus": {"name": "X", "documents": 2, "tokens": 1200},
    "queries": {"n": 3, "unanswered": 0, "judgments": 4, "grades": [0, 1]},
    "method": {"engine": "bm25", "k1": 1.5, "b": 0.75, "chunk_tokens": 512, "overlap_tokens": 50,
               "depth": 100, "chunker": "fixed"},
    "evidence": {},
    "summary": {
        "dev": {"n": 2, "median_first_rank": 1.5, "measures": {**MEANS, "recall@100": 0.75}},
        "test": {"n": 1, "median_first_rank": None, "measures": {**MEANS, "recall@100": 1}},
    },
}  # fmt: skip


def test_the_summary_is_a_table_with_a_row_for_each_half():
    assert report.summary(FOUND) == (
        "Corpus: X, 2 documents, 1,200 tokens. Queries: 3, labelled with 4 judgments "
        "(grades 0, 1).\n\n"
        "Method: bm25 (k1 = 1.5, b = 0.75) over chunks of 512 tokens with 50 overlap; "
        "the best chunk counts for its document. nDCG has linear gain.\n\n"
        "| half | n | nDCG@10 | MRR@10 | hit@1 | hit@5 | recall@10 | recall@100 "
        "| median rank of first relevant |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        "| dev | 2 | 0.123 | 0.200 | 0.300 | 0.400 | 0.500 | 0.750 | 1.5 |\n"
        "| test | 1 | 0.123 | 0.200 | 0.300 | 0.400 | 0.500 | 1.000 | none within 100 |"
    )
    by_k = {"document": [0.2, 0.3, 0.4, 0.5, 0.6], "evidence": [0, 0, 0, 0, 0.5]}
    of = {"n": 4, "by_k": by_k, "sets": {"fixed": {"means": {evidence.DECIDES: 0.25}}}}
    assert report.summary(FOUND | {"evidence": {"test": of}}).endswith(
        "\n\nEvidence, test (n = 4): the first five chunks hold it for 0.500 of the queries, and "
        "the right document for 0.600. The evidence recall within 2000 tokens is 0.250."
    )
    full = {"n": 3, "measures": {"full hit@5": 2 / 3, "full MRR@10": 0.5}}
    half = {"n": 4, "measures": MEANS | {"hit@5": 0.75, "recall@100": 1}, "full": full}
    assert report.summary(FOUND | {"summary": {"dev": half | {"median_first_rank": 1}}}).endswith(
        " | median rank of first relevant | full hit@5, of those with a full answer | of all |\n"
        f"|{' --- |'}{' ---: |' * 10}\n"
        "| dev | 4 | 0.123 | 0.200 | 0.300 | 0.750 | 0.500 | 1.000 | 1 | 0.667 (n = 3) | 0.500 |"
    )
    one = FOUND | {"queries": {"n": 1, "unanswered": 0, "judgments": 1, "grades": [1]}}
    assert "Queries: 1, labelled with 1 judgment (grade 1).\n" in report.summary(one)
    one["queries"] |= {"unanswered": 2}
    assert "Queries: 1 and 2 without an answer, labelled with 1 " in report.summary(one)


@pytest.fixture
def counted(tmp_path, monkeypatch):
    """Return a set whose documents are as long as their title says."""
    monkeypatch.setattr(text, "token_ids", lambda words: range(int(words.split()[0])))
    held = [(7, "page", "s"), (1200, "page", "s"), (10, "note", "s"), (9, *["unspecified"] * 2)]
    documents = {
        f"d{n}": Document(f"d{n}", str(tokens), "x", kind, service)
        for n, (tokens, kind, service) in enumerate(held)
    }
    queries = [Query("q0", "a", (), split="test"), Query("q1", "b", (), answers=("x", "y"))]
    queries = {query.query_id: query for query in [*queries, Query("q2", "b", ())]}
    judged = [("q0", "d0", 2), ("q0", "d1", 0), ("q1", "d2", 1), ("q2", "d2", 1), ("q2", "d3", 0)]
    return EvalSet(tmp_path, documents, queries, [Judgment(*row) for row in judged])


FACTS = """\
| what | count |
|---|---|
| documents | 4 of 2 kinds about 1 service |
| tokens (cl100k_base) | 1,226: shortest document 7, median 10, longest 1,200 |
| queries | 3: 2 dev, 1 test |
| queries that no document answers | 0 |
| judgments | 5: 2 of grade 0, 2 of grade 1, 1 of grade 2 |
| documents reached by a query | 2 (50%) |
| queries with short answers | 1 |"""


def test_the_data_card_counts_documents_queries_and_labels(counted):
    assert report.data_card_table(counted) == FACTS
    marked = {q: query._replace(popularity="head") for q, query in [*counted.queries.items()][:2]}
    aside = counted._replace(queries=counted.queries | marked, unanswered={"z": marked})
    row = "| queries | 3: 2 dev, 2 head, 1 test |\n| queries that no document answers | 1 |"
    assert row in report.data_card_table(aside)


SECOND = [(8, 1, 1), (1, 0, 0), (1, 1, 1), (1, 2, 2), (1, 0, 1), (8, 1, 1), (1, 2, 2)]
ONE = "100.0% equal, Cohen's kappa undefined (one grade only); equal by first grade 1: 100%"
POOL = {
    "pairs judged in the pool": "5",
    "relevant, missed by the first labelling": "2 of 3",
    "second pass, round 1": "5 pairs, 80.0% equal, Cohen's kappa 0.71 (0.23 to 1.00); "
    "equal by first grade 0: 50%, 1: 100%, 2: 100%",
    "second pass, round 8": f"2 pairs, {ONE}",
}
READERS = {
    "second pass, round 1": f"1 pair, {ONE}",
    "second pass, round 1, by a model": f"1 pair, {ONE}; readers: language models of one family",
    "second pass, round 1, by a person": f"2 pairs, {ONE}; readers: people",
}


def test_the_data_card_counts_the_pool_and_each_second_pass(counted, monkeypatch):
    monkeypatch.setattr(stats, "kappa", lambda a, b, grades: 0.7059 if grades and a != b else None)
    pool = [("q0", "d0", 2), ("q0", "d1", None), ("q1", "d2", 0), ("q2", "d2", None)]
    write_rows(counted.folder / "pool.jsonl", *(
        {"query_id": q, "doc_id": d, "rankers": ["a"], "first": first} for q, d, first in pool),
        {"query_id": "q2", "doc_id": "d3", "rankers": ["a"]})  # fmt: skip

    def card(*passes):
        """Return the rows of labels after second passes, which the data card shows."""
        ids = ({"query_id": q, "doc_id": d} for q in counted.queries for d in counted.documents)
        row = {"round": 1, "first": 1, "second": 1, "final": 1, "reason": ""}
        rows = (pair | row | more for pair, more in zip(ids, passes, strict=False))
        write_rows(counted.folder / "second_pass.jsonl", *rows)
        found = report.label_facts(counted)
        lines = "".join(f"\n| {name} | {words} |" for name, words in found.items())
        assert report.data_card_table(counted).startswith(FACTS + lines)  # Cohen's, not Cohen&#39;s
        return [*found.items()]

    names = ("round", "first", "second")
    assert card(*(dict(zip(names, row, strict=True)) for row in SECOND)) == [*POOL.items()]
    (counted.folder / "pool.jsonl").unlink()
    passes = [{}, {"reader": "model"}, {"reader": "person:ab"}, {"reader": "person:cd"}]
    assert card(*passes) == [*READERS.items()]


def test_the_data_card_counts_third_readings_and_large_rounds(counted):
    pairs = [{"query_id": f"q{n % 3}", "doc_id": f"d{n}", "round": 7} for n in range(2400)]
    documents = {p["doc_id"]: Document(p["doc_id"], "7", "x") for p in pairs}
    rows = [p | {"first": n % 3, "second": (n + (n % 10 == 0)) % 3} for n, p in enumerate(pairs)]
    thirds = zip(rows[:31:10] + rows[1:2], (0, 0, 1, 1, 2), strict=True)  # 0 1, 1 2, 2 0, 0 1; 1 1
    rows += [row | {"round": 8, "second": grade} for row, grade in thirds]
    rows += [row | {"round": 6, "second": (row["first"] + 1) % 3} for row in rows[:4]]
    # read four times, two against two: d0, d1; three times: d2, d3
    more = {"final": 1, "reason": "", "batch": "b", "evidence": ["x"]}
    write_rows(counted.folder / "second_pass.jsonl", *(row | more for row in rows))
    found = report.label_facts(counted._replace(documents=documents))
    told = "2,400 pairs, 90.0% equal, Cohen's kappa 0.85 ("
    assert found["second pass, round 7"].startswith(told)
    third = "7 pairs, 3 with one most frequent grade, 4 tied"
    assert found["disputed, read three times or more"] == third and len(found) == 4


def test_the_disclosure_is_the_first_paragraph_of_the_data_card(counted):
    card = counted.folder / "README.md"
    card.write_text("\n# A set\n\n<!-- x -->\n\nAll of it\nis **made** `<up>`.\n\nMore.\n")
    assert report.disclosure(counted) == "All of it is made &#60;up&#62;."
    card.write_text("# A set\n")
    assert report.disclosure(counted) == ""
    card.unlink()
    assert report.disclosure(counted) == ""
