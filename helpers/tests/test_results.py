"""results.json: what it says, what is wrong with one, and whether it is of this set."""

import contextlib
import copy
import hashlib
import json
import re

import fastjsonschema
import pytest
from conftest import published, results_of, write_rows

from helpers.measure import chunks, evalset, evidence, files, measures, results, runs


def measured(evals, run, card):
    runs.write_card(evals.folder / "runs" / "fixed.json", evals, runs.BASELINE | card)
    runs.write_trec(evals.folder / "runs" / "fixed.trec", run, "mine")
    compared = {"n": 1, "runs": [{"name": "a", "unjudged": []}]}
    values = measures.per_query(evals.qrels(), run)
    return results.results_content(evals, run, values, compared, [], {})


def test_one_half_has_no_sum_of_both_and_most_without_an_answer_have_no_median(folder):
    rows = [json.loads(line) for line in (folder / "retrieval_queries.jsonl").open()]
    write_rows(folder / "retrieval_queries.jsonl", *({**row, "split": "dev"} for row in rows))
    run = {"q1": [(f"d{n}", -float(n)) for n in range(12)], "q2": [("queue-full", 1.0)]}
    found = measured(evalset.load(folder), run, {"tokenizer": "unicode-words"})
    assert list(found["summary"]) == list(found["by_kind"]) == ["dev"]
    assert found["summary"]["dev"]["median_first_rank"] is None
    assert found["compared_dev"]["runs"] == [{"name": "a"}]
    assert [d for d, _ in found["per_query"][0]["retrieved"]] == [f"d{n}" for n in range(10)]
    with pytest.raises(evalset.EvalSetError, match="field tokenizer is missing"):
        measured(evalset.load(folder), run, {})


# Ten scores of which half are 0 and half 1: standard deviation .527. statsmodels' TTestPower wants
# 220.0 and 874.1 queries for .10 and .05; what ten find is .525. Wilson's interval of ten of ten
# begins at 10 / (10 + 1.96 ** 2) = .722.
SPREAD = "find a difference of 0.52 between two systems in four of five samples"
NUMBERS = [  # nDCG@10 of the dev queries, what is said
    ([0, 1] * 4 + [1], ["The first number comes with 10 labelled dev queries: 9 so far."]),
    ([0, 1] * 5, ["nDCG@10 0.500 (0.100 to 0.900), hit@5 1.000 (0.722 to 1.000): n = 10 dev ",
                  SPREAD, "(standard deviation 0.53). To find 0.10 takes ",
                  " more. To find 0.05 takes 865 queries more."]),
    ([0.5] * 10, ["hit@5 1.000", "All have the same nDCG@10, so no spread says what they can"]),
    ([0.5, 0.6] * 20, ["To find 0.10 takes no more queries. To find 0.05 takes no more queries."]),
]  # fmt: skip


def test_the_first_number_comes_with_ten_queries_and_says_what_they_decide():
    for scores, wanted in NUMBERS:
        row = {"n": len(scores), "measures": {"nDCG@10": sum(scores) / len(scores), "hit@5": 1.0}}
        row["intervals"] = {"nDCG@10": [0.1, 0.9]}
        values = [{"split": "dev", "measures": {"nDCG@10": score}} for score in scores]
        other = {"split": "test", "measures": {"nDCG@10": 0.9}}
        content = {"summary": {"dev": row}, "per_query": [*values, other]}
        told = results.first_number(content)
        assert all(part in told for part in wanted), told


def test_evidence_is_told_for_each_half_that_has_quotes(folder):
    evals = evalset.load(folder)
    bodies = {d: len(document.retrieval_text) for d, document in evals.documents.items()}
    disk, queue = (chunks.Chunk(d, 0, 0, length, 9) for d, length in bodies.items())
    known = {"base": [disk, queue], "other": [disk]}
    rankings = {"base": {"q1": [queue]}, "other": {"q1": [queue, disk]}}
    quoted = results.evidence_content(evals, known, rankings, "base")
    assert list(quoted) == ["dev", "lost", "test"]
    assert quoted["lost"] == {"q1": evidence.NOT_FOUND}
    assert list(quoted["test"]["sets"]) == ["base"]  # of the others only what was chosen on dev
    chosen = evals._replace(confirmed={"other": "2026-11-23"})
    both = results.evidence_content(chosen, known, rankings, "base")["test"]["sets"]
    assert list(both) == ["base", "other"]
    dev = quoted["dev"]
    assert dev["n"] == 1 and dev["by_k"]["document"][:2] == [0, 0]
    assert {name: of_set["chunks"] for name, of_set in dev["sets"].items()} == {
        "base": 2, "other": 1}  # fmt: skip
    assert dev["sets"]["other"]["means"]["evidence hit@5"] == 1
    assert dev["sets"]["other"]["against"]["difference"] == 1
    dev_only = evals._replace(queries={"q1": evals.queries["q1"]})
    assert list(results.evidence_content(dev_only, known, rankings, "base")) == ["dev", "lost"]
    assert results.evidence_content(evals, known, {}, "base") == {}
    assert not any("any_quote" in row for row in dev["sets"].values())


# The file.


def test_results_are_written_with_ten_decimals_and_read_back(tmp_path):
    found = {"a": 1 / 3, "é": [2 / 3, (1 / 7, 5)], "b": {"c": 0.12345678919, "d": None}}
    found |= published()
    results.write_results(tmp_path, found)
    page = (tmp_path / "results.json").read_text(encoding="utf-8")
    assert page.startswith('{\n "a": 0.3333333333,\n "é": [\n  0.6666666667,\n  [\n   0.1428571429')
    assert ' "b": {\n  "c": 0.1234567892,\n  "d": null\n },\n "corpus": {' in page
    assert page.endswith('"per_query": []\n}\n')
    assert results.read_results(tmp_path) == json.loads(page)


def test_a_note_ends_at_the_next_query(tmp_path):
    page = "# Notes\n\n## q1\nRead\nit.\n### More\n## q2\nx\n"
    (tmp_path / evalset.PROSE[1]).write_text(page)
    assert results.read_notes(tmp_path) == {"q1": "Read it. ### More", "q2": "x"}


# Whether it is of this set.


@pytest.fixture
def reported(folder):
    """Return a set with a run and a results.json of it."""
    evals = evalset.load(folder)
    rankings = {"q1": [("disk-full", 2.0)], "q2": [("queue-full", 1.0)]}
    runs.write_trec(folder / results.RUN, rankings, "t")
    save(folder, results_of(evals))
    return evals


def save(folder, content):
    (folder / "results.json").write_text(json.dumps(content))


def problems(evals) -> list[str]:
    """Return why the results of a set are not its own."""
    with pytest.raises(evalset.EvalSetError) as caught:
        results.read_current_results(evals)
    return caught.value.problems


def test_a_baseline_of_this_set_is_read_also_where_git_or_an_editor_changed_the_form(reported):
    run, page = reported.folder / results.RUN, reported.folder / "results.json"
    content = json.loads(page.read_text())
    run.write_bytes(run.read_bytes().replace(b"\n", b"\r\n"))
    page.write_bytes(b"\xef\xbb\xbf" + page.read_bytes().replace(b', "', b',\r\n"'))
    assert results.read_current_results(reported) == content


def test_what_is_not_as_it_was_measured_is_told_with_what_to_do(reported):
    queries = {**reported.queries, "q1": reported.queries["q1"]._replace(query="other")}
    documents = {"disk-full": reported.documents["disk-full"]}
    run, page = reported.folder / results.RUN, reported.folder / "results.json"
    run.write_text(run.read_text().replace("2.0", "3.0"))
    (problem,) = problems(reported._replace(queries=queries, documents=documents))
    told = "another corpus, other queries and labels, another runs/fixed.trec: make report "
    assert problem.startswith(f"{page}: made on {told}EVALS={reported.folder} measures the b")
    hashed = results_of(reported)
    (reported.folder / "chunks").mkdir()
    (reported.folder / results.CHUNKS).write_text("")
    save(reported.folder, hashed | {"run": hashed["run"] | {"chunks_sha256": "0" * 64}})
    assert problems(reported)[0].startswith(f"{page}: made on another chunks/fixed.jsonl: make rep")
    save(reported.folder, hashed)
    run.unlink()
    assert problems(reported)[0].startswith(f"{page}: made on another runs/fixed.trec: make report")


MISFITS = [  # (place, value, what is told)
    ("corpus", None, "data.corpus must be object; make report EVALS="),
    ("queries grades", [0, True], "data.queries.grades[1] must be integer"),
    ("summary dev median_first_rank", "<b>", "dev.median_first_rank must be number or null"),
    ("cards", [{"query_id": "q"}], "data.cards[0] must contain ["),
    ("compared_dev runs", [{"name": "a", "primary": "AP", "judged@10": 1}],
     "data.compared_dev.runs[0] must contain ['bounds', "),
    ("by_kind dev", {"typo": {"n": 1}}, "data.by_kind.dev.typo must contain ['measures'] prop"),
]  # fmt: skip


def test_a_file_that_is_no_result_is_told_with_its_place(reported):
    page = reported.folder / "results.json"
    whole = json.loads(page.read_text())
    for content, words in (("{", "broken JSON ("), ("{}", "data must contain ['by_kind', ")):
        page.write_text(content)
        (problem,) = problems(reported)
        assert problem.startswith(f"{page}:1: {words}"), content
    for place, value, words in MISFITS:
        content = part = copy.deepcopy(whole)
        *path, last = place.split()
        for name in path:
            part = part[name]
        part[last] = value
        save(reported.folder, content)
        (problem,) = problems(reported)
        assert problem.startswith(f"{page}:1: data.") and words in problem, place


WITH_PASSAGES = {  # what a run of passages, of several searches or of several lists has besides
    "averaged": {"runs": 2, "low": 0.1, "high": 0.2},
    "searches": {"queries": 2, "n": 1, "measure": "evidence hit@5", "means": [0.5, 1.0]},
    "evidence": {"n": 1, "within": 500, "short": [1000], "bounds": [0, 1], "verdict": "better",
                 "any_quote": {}, "lost": {"base": {"q1": "below the budget"}, "run": {}}},
}  # fmt: skip


def leaves(part, path=""):
    """Yield path, holder and name of each value that holds no others."""
    for name, value in part.items() if isinstance(part, dict) else enumerate(part):
        if value and isinstance(value, dict | list):
            yield from leaves(value, f"{path} {name}")
        else:
            yield f"{path} {name}", part, name


def test_each_value_of_a_report_has_a_type():
    """Neither an object nor, for a number, a text may stand in its place."""
    content = json.loads((evalset.DEFAULT / "results.json").read_text(encoding="utf-8"))
    content |= {"cards": content["cards"][:3], "per_query": content["per_query"][:1]}
    first = next(row for row in content["compared_dev"]["runs"] if "halves" in row)
    content["compared_dev"]["runs"] = [first]
    first["evidence"] = WITH_PASSAGES["evidence"] | {"measures": copy.deepcopy(first["measures"])}
    first |= {name: WITH_PASSAGES[name] for name in ("averaged", "searches")}
    cheaper = {"name": "b", "k": 1, "tokens": 9.5, "low": None}
    content["compared_dev"]["costs"] = [cheaper | {"instead": cheaper}]  # as older ones have it
    form = (files.FORMS / "results.schema.json").read_text(encoding="utf-8")
    fits, taken = fastjsonschema.compile(json.loads(form)), []
    fits(content)
    of_a_shape = {re.sub(r"\d+", "#", path): place for path, *place in leaves(content)}
    for path, (holder, name) in of_a_shape.items():
        value = holder[name]
        is_number = not isinstance(value, str | dict | list)
        for wrong in ([value] if value == {} else {"a": 1}, "<b>" if is_number else None):
            holder[name] = wrong
            with contextlib.suppress(fastjsonschema.JsonSchemaValueException):
                fits(content)
                taken.append(path)
        holder[name] = value
    assert taken == []


# Where a report leads.


def test_a_report_ends_with_what_comes_next():
    own = results.what_next(evalset.DEFAULT)
    sha256 = hashlib.sha256((evalset.DEFAULT / "results.json").read_bytes()).hexdigest()
    assert own.endswith(f"installing.md, Reproduced: {sha256[:12]}")
    other = results.what_next(evalset.DEFAULT / "other")
    assert "make audit" in other and "Reproduced" not in other


def test_what_was_reproduced_of_this_version_has_its_digits():
    """A line of another version keeps its own."""
    page = (evalset.DEFAULT.parent / "notebooks" / "installing.md").read_text(encoding="utf-8")
    table = page.partition("## Reproduced")[2].partition("\n## ")[0]
    rows = [line.split(" | ") for line in table.splitlines()[5:] if line]
    citation = (evalset.DEFAULT.parent / "CITATION.cff").read_text(encoding="utf-8")
    version = re.search(r'^version: "(.+)"$', citation, re.MULTILINE)[1]
    sha256 = hashlib.sha256((evalset.DEFAULT / "results.json").read_bytes()).hexdigest()
    ours = [row for row in rows if row[0] == f"| {version}"]
    assert ours and all(row[2] == f"`{sha256[:12]}` |" and len(row) == 3 for row in ours)
    card = (evalset.DEFAULT / "README.md").read_text(encoding="utf-8")
    assert f"Version {version}, " in card
