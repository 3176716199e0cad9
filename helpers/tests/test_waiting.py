"""A set in the making: queries that wait for a label or are newer than a run are left out."""

import json
import runpy
import sys

import pytest
from conftest import write_rows

from helpers import __main__ as commands
from helpers.label import labelling
from helpers.measure import api, baseline, evalset, links, results, runs, stats, systems

QUERIES, LABELS, RUN = "retrieval_queries.jsonl", "judgments.jsonl", "systems/other.trec"
NOTHING = "zzz"  # a word of no document
WAITS = {"query_id": "a0", "query": "host7 stops at step7"}  # first by its id, and nearly a q07
NONE = WAITS | {"kind": "none"}
LABEL = {"query_id": "a0", "doc_id": "page-7", "relevance": 2, "evidence": "step7 of"}
CONFIRMED = {"confirmed": dict.fromkeys(("other", "fixed"), "2026-11-23")}


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """Return a set of sixteen queries, three without results, with a baseline and another run."""
    monkeypatch.setattr(stats, "DRAWS", 300)
    hosts = [" ".join(f"It calls host{n * k}." for k in range(40)) for n in range(14)]
    bodies = [f"Here is step{n} of the plan. {calls}" for n, calls in enumerate(hosts)]
    queries = [{"query_id": f"q{n:02}", "query": f"the step{n} and host{n}"} for n in range(14)]
    queries[5] |= {"query": NOTHING}
    queries += [
        {"query_id": f"n{k}", "query": f"{NOTHING} step{k}", "kind": "none"} for k in (1, 99)
    ]
    labels = []
    for n in range(14):
        queries[n]["split"] = "test" if n in (3, 7, 9, 12) else "dev"
        pair = {"query_id": f"q{n:02}", "doc_id": f"page-{n}"}
        labels.append(pair | {"relevance": 2, "evidence": f"step{n} of"})
        labels.append(pair | {"doc_id": f"page-{(n + 1) % 14}", "relevance": 0})
    pages = ({"doc_id": f"page-{n}", "title": "", "text": body} for n, body in enumerate(bodies))
    write_rows(tmp_path / "corpus.jsonl", *pages)
    write_rows(tmp_path / QUERIES, *queries)
    write_rows(tmp_path / LABELS, *labels)
    (tmp_path / "settings.json").write_text(json.dumps(CONFIRMED))
    baseline.baseline_command(evalset.load(tmp_path))
    found = runs.read_rankings(tmp_path / results.RUN)
    turned = {q: [(d, -score) for d, score in ranking][::-1] for q, ranking in found.items()}
    runs.write_trec(tmp_path / RUN, turned, "t")
    runs.write_card(tmp_path / "systems" / "other.json", evalset.load(tmp_path), {}, turned)
    return tmp_path


@pytest.fixture
def typed(asked, monkeypatch, capsys):
    """Return what calls a command on the set and returns its exit status and what it printed."""

    def typed(*words, folder=asked):
        capsys.readouterr()
        monkeypatch.setattr(sys, "argv", [*map(str, ["helpers", *words, "--evals", folder])])
        status, printed = commands.main(), capsys.readouterr()
        return status, printed.out or printed.err

    return typed


def append(folder, query, label=None):
    for name, row in ((QUERIES, query), (LABELS, label)):
        with (folder / name).open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n" if row else "")


def change(folder, name, old, new):
    page = (folder / name).read_text()
    assert page.count(old) == 1
    (folder / name).write_text(page.replace(old, new))


def test_a_query_without_a_label_waits_and_no_measure_sees_it(asked):
    append(asked, WAITS)
    evals = evalset.load(asked)
    assert [*evals.waiting] == ["a0"] and "a0" in evals.all_queries and evals.next_step() == ""
    assert not {"a0"} & {*evals.queries, *evals.settled_queries, *evals.qrels()}
    assert {("a0", ""), ("a0", "page-7")} < {*labelling.pairs_to_judge(evals)}
    assert all("a0" not in group for group in links.components(evals))


def test_our_own_runs_name_the_queries_without_results(asked, typed):
    typed("sql", "--to", asked / "sql")
    for name in ("runs/fixed.json", "systems/other.json", "sql/bm25-sql.json"):
        assert json.loads((asked / name).read_text())["without_results"] == ["n99", "q05"], name


def compared(asked, typed):
    """Return what comparisons print and write, and what a call for programs returns."""
    said, paths = [], (asked / RUN, asked / "runs" / "fixed.jsonl")
    lines = [(*paths[:1], "--split", split) for split in ("dev", "test", "all")]
    for words in (*lines, paths, (*paths[:1], "--base", paths[1])):
        (asked / "to_read.jsonl").unlink(missing_ok=True)
        status, page = typed("compare", *words, "--pairs", 5)
        written = page.rpartition("written: ")[2].partition(".md")[0]
        with open(f"{written}.json", encoding="utf-8") as file:
            said.append((status, page, json.load(file)))
    return said, api.evidence_by_query(evalset.load(asked), paths[1])


APPENDED = [  # a query, its label, what the first line of a comparison counts
    (WAITS, None, "1 query left out: 1 waits for a label"),
    (WAITS | {"split": "test"}, LABEL, "1 query left out: 1 is newer than a run"),
    (NONE, None, "1 query left out: 1 is newer than a run"),
]


@pytest.mark.parametrize(("query", "label", "told"), APPENDED)
def test_one_query_more_changes_no_number_of_a_comparison(asked, typed, query, label, told):
    before, by_query = compared(asked, typed)
    append(asked, query, label)
    after, by_query_then = compared(asked, typed)
    assert by_query_then == by_query
    for (status, page, content), (then, more, known) in zip(before, after, strict=True):
        half = query.get("split", "dev")
        is_told = content["split"] in (half, "all")
        assert more.count(f", n = {content['n']}; {told}. Corpus ") == is_told
        assert (then, more.replace(f"; {told}", "")) == (status, page)
        assert bool(known.pop("left_out", None)) == is_told and known == content


def test_one_that_waits_changes_neither_the_audit_nor_the_baseline(asked, typed):
    for name in ("audit", "baseline", "plan"):
        before, files = typed(name), {p: p.read_bytes() for p in asked.rglob("*.*")}
        append(asked, WAITS)
        status, said = typed(name)
        first, _, rest = said.partition("\n")
        assert first == "1 query left out: 1 waits for a label" and (status, rest) == before
        changed = {p.name for p in asked.rglob("*.*") if p.read_bytes() != files.get(p)}
        assert changed == {QUERIES}, name
        change(asked, QUERIES, json.dumps(WAITS) + "\n", "")


@pytest.mark.parametrize(("query", "label"), [(WAITS, LABEL), (NONE, None)])
def test_one_that_waited_when_the_baseline_was_made_is_newer_later(asked, typed, query, label):
    append(asked, WAITS)
    typed("baseline")
    change(asked, QUERIES, json.dumps(WAITS), json.dumps(query))
    append(asked, {}, label)
    _, said = typed("compare", asked / RUN)
    assert "; 1 query left out: 1 is newer than a run." in said


def test_one_with_a_label_is_measured_with_the_next_baseline(asked, typed):
    append(asked, WAITS, LABEL)
    assert "10 dev queries\n1 query left out: 1 is newer than a run\n" in typed("plan")[1]
    status, said = typed("audit")
    said = " ".join(said.split())
    assert "results.json is older than 1 query Measure the baseline anew" in said
    status, said = typed("baseline")
    assert "Queries: 15 and 2 without an answer" in said
    content = json.loads((asked / "results.json").read_text())
    assert content["per_query"][0]["query_id"] == "a0" and content["summary"]["dev"]["n"] == 11
    _, said = typed("compare", asked / RUN)
    assert "n = 10; 1 query left out: 1 is newer than a run." in said
    found = runs.read_rankings(asked / RUN) | {"a0": [("page-7", 1.0)]}
    runs.write_trec(asked / RUN, found, "t")
    status, said = typed("compare", asked / RUN)
    assert status == 2 and "topics_sha256 is " in said  # the card is of the run before
    (asked / "systems" / "other.json").unlink()
    typed("card", asked / RUN)
    assert ", n = 11. Corpus" in typed("compare", asked / RUN)[1]


def test_a_run_that_knows_more_than_the_baseline_is_held_to_what_that_knows(asked, typed):
    append(asked, WAITS, LABEL)
    found = runs.read_rankings(asked / RUN) | {"a0": [("page-1", 1.0)]}
    runs.write_trec(asked / RUN, found, "t")
    (asked / "systems" / "other.json").unlink()
    assert "n = 10; 1 query left out: 1 is newer" in typed("compare", asked / RUN, "--pairs", 99)[1]
    assert '"a0"' not in (asked / "to_read.jsonl").read_text()


def test_a_query_that_finds_nothing_is_measured_with_the_next_baseline(asked, typed):
    append(asked, WAITS | {"query": f"{NOTHING} again"}, LABEL)
    assert "Queries: 15 and 2 without an answer" in typed("baseline")[1]


@pytest.mark.parametrize("is_older", [False, True])
def test_the_card_of_an_older_run_stays_so_when_it_is_completed(asked, typed, is_older):
    """One hashes the queries that its run knew, the other all of its set and lists none."""
    evals, card = evalset.load(asked), asked / "systems" / "other.json"
    facts = {"topics_sha256": evals.topics_hash()} if is_older else json.loads(card.read_text())
    card.write_text(json.dumps({**facts, "depth": 14}))
    if not is_older:
        append(asked, WAITS | {"query": NOTHING}, LABEL)
    assert typed("card", asked / RUN)[0] == 0
    written = json.loads(card.read_text())
    assert {name: written.get(name) for name in facts} == facts and written["corpus_sha256"]
    assert ("without_results" in written) != is_older
    assert ("; 1 query left out" in typed("compare", asked / RUN)[1]) != is_older


def test_a_run_that_found_nothing_for_a_query_that_waited_counts_as_0_later(asked):
    append(asked, WAITS)
    found = runs.read_rankings(asked / RUN) | {"a0": []}
    runs.write_card(asked / "systems" / "other.json", evalset.load(asked), {}, found)
    append(asked, {}, LABEL)
    append(asked, WAITS | {"query_id": "b0"})
    assert systems.read_checked(asked / RUN, evalset.load(asked)).newer == {"b0"}


CHANGES = [  # a file, a text of it, what stands there then, whether the run's card notices
    (QUERIES, "the step4 and", "the steps4 and", True),
    (QUERIES, f"{NOTHING} step99", "step98", True),
    (LABELS, '"page-5", "relevance": 0', '"page-5", "relevance": 1', False),
]


@pytest.mark.parametrize("with_another", [False, True])
@pytest.mark.parametrize(("name", "old", "new", "is_noticed"), CHANGES)
def test_changed_words_and_labels_are_refused(
    asked, typed, name, old, new, is_noticed, with_another
):
    if with_another:
        append(asked, WAITS, LABEL)
    change(asked, name, old, new)
    status, said = typed("compare", asked / RUN)
    assert status == 2 and "results.json: made on other queries and labels: " in said
    status, said = typed("compare", asked / RUN, "--base", asked / "runs" / "fixed.trec")
    assert (status == 2 and ".json:1: topics_sha256 is " in said) == is_noticed


def test_halves_are_drawn_around_it(asked, monkeypatch):
    append(asked, WAITS)
    monkeypatch.setattr(sys, "argv", ["draw_halves.py", str(asked)])
    runpy.run_path(str(evalset.DEFAULT / "draw_halves.py"))["main"]()
    evals = evalset.load(asked)
    assert [*evals.waiting.values()] == [evalset.Query(*WAITS.values(), ())]
    assert len(evals.qrels("dev")) + len(evals.qrels("test")) == 14


def test_a_set_that_was_carried_is_measured_without_what_lost_its_label(asked, typed, tmp_path):
    rows = [json.loads(line) for line in (asked / "corpus.jsonl").open()]
    (tmp_path / "new").mkdir()
    write_rows(tmp_path / "new" / "corpus.jsonl", *(r for r in rows if r["doc_id"] != "page-4"))
    to = tmp_path / "carried"
    typed("carry", "--from", tmp_path / "new", "--to", to)
    assert [*evalset.load(to).waiting] == ["q04"]
    for words in (["baseline"], ["audit"], ["compare", to / "runs" / "fixed.trec"], ["freeze"]):
        status, said = typed(*words, folder=to)
        assert status == 0 or words == ["audit"], (words, said)
        assert "1 query left out: 1 waits for a label" in said, (words, said)
    status, said = typed("export", "--to", tmp_path / "out", folder=to)
    assert status == 0 and "no label yet: q04\n" in said
    assert "q04" not in (tmp_path / "out" / "qrels.trec").read_text()
