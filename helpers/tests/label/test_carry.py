"""Carrying labels to changed documents: pages by hand, and what they are later."""

import os
import shutil
import sys
from contextlib import nullcontext

import pytest
from conftest import write_rows
from labelled_sets import change, rows

from helpers.label import carry, fates, manifest
from helpers.measure import evalset, files, reading, runs, systems

TAKEN = (fates.KEPT, fates.CHANGED, fates.MOVED)
DISK = "Delete the old logs first.\n\nThen call storage and wait for their answer. Be calm.\n\n"
DISK += "A disk of ninety percent pages the team in the night."
QUEUE = "Add a consumer when the queue grows.\n\nA stuck worker is restarted by hand only. Be calm."
QUOTE, OTHER = "Then call storage and wait for their answer.", "Delete the old logs first."


def page(folder, name, body, title="Help"):
    (folder / "corpus").mkdir(parents=True, exist_ok=True)
    (folder / "corpus" / f"{name}.md").write_text(f"---\ntitle: {title}\n---\n{body}\n")


@pytest.fixture
def old(tmp_path):
    """Return a set with a label on each page for its own query, and a 0 on the other."""
    folder = tmp_path / "old"
    page(folder, "disk", DISK)
    page(folder, "queue", QUEUE)
    write_rows(
        folder / "retrieval_queries.jsonl",
        {"query_id": "q1", "query": "logs fill the queue", "relevant_doc_ids": ["disk"]},
        {"query_id": "q2", "query": "worker stuck at night", "relevant_doc_ids": ["queue"]},
    )
    label(folder, QUOTE)
    return folder


def label(folder, evidence):
    """Write the labels, with evidence for q1."""
    write_rows(
        folder / "judgments.jsonl",
        {"query_id": "q1", "doc_id": "disk", "relevance": 2, "evidence": evidence},
        {"query_id": "q1", "doc_id": "queue", "relevance": 0},
        {"query_id": "q2", "doc_id": "queue", "relevance": 1, "evidence": QUEUE[:20]},
    )


def carried(old, pages, title="Help", to="new"):
    """Carry the set `old` to pages; return the new folder, the journal by pair, and the lines."""
    source, to = old.parent / "source", old.parent / to
    for name, body in pages.items():
        page(source, name, body, title)
    lines = carry.carry_command(old, str(source), to)
    return to, {(row["query_id"], row["doc_id"]): row for row in rows(to / "history.jsonl")}, lines


EDIT = DISK.replace("ninety percent", "eighty percent")
FIRST, SECOND, THIRD = DISK.split("\n\n")
PARTS, WRAPPED = [[QUOTE, OTHER]], QUOTE.replace("call storage", "call\nstorage")
STOCK = "Be calm."  # on both pages
LONG = "Long ago, far from any volume, somebody wrote of other days and of the people who then "
LONG += f"were on call for it, night after night, year after year.\n\n{QUOTE}"
FILLER = " ".join(f"word{n}" for n in range(300))
NEAR = f"{LONG.partition(QUOTE)[0]}wait for their answer. {STOCK}"
CASES = [  # (evidence of q1 in disk, later pages, outcome, where, evidence or what is marked)
    (QUOTE, {"disk": DISK}, fates.KEPT, ["disk"], QUOTE),
    (QUOTE, {"disk": DISK, "copy": DISK}, fates.KEPT, ["disk"], QUOTE),
    (QUOTE, {"disk": EDIT}, fates.CHANGED, ["disk"], QUOTE),
    ([QUOTE, "ninety percent"], {"disk": EDIT}, fates.CHANGED, ["disk"], QUOTE),
    (QUOTE, {"disk": EDIT.replace(QUOTE, WRAPPED)}, fates.CHANGED, ["disk"], WRAPPED),
    (QUOTE, {"volume": DISK}, fates.MOVED, ["volume"], QUOTE),
    (QUOTE, {"volume": EDIT, "a": LONG}, fates.MOVED, ["volume"], QUOTE),
    (PARTS, {"volume": EDIT}, fates.MOVED, ["volume"], PARTS),
    (STOCK, {"volume": f"{STOCK} {FIRST} {THIRD}"}, fates.MOVED, ["volume"], STOCK),
    (STOCK, {"volume": f"{EDIT.replace(STOCK, '')} It is later. So {STOCK}"}, fates.RE_ANCHORED,
     ["volume"], [STOCK]),
    (STOCK, {"queue": f"{QUEUE}\n\nMore."}, fates.LOST, [], []),
    (QUOTE, {"disk": DISK.replace(SECOND, ""), "a": LONG}, fates.MOVED, ["a"], QUOTE),
    (QUOTE, {"a": LONG}, fates.RE_ANCHORED, ["a"], [QUOTE]),  # nothing else of disk is there
    ("wait", {"disk": f"{FIRST}\n\n{THIRD}", "a": "I wait."}, fates.LOST, ["disk"], []),
    (QUOTE, {"disk": DISK.replace("wait", "hope")}, fates.RE_ANCHORED, ["disk"],
     [QUOTE.replace("wait", "hope")]),
    (QUOTE, {"a": DISK, "b": DISK}, fates.AMBIGUOUS, ["a", "b"], [QUOTE]),
    (PARTS, {"a": f"{FIRST}\n\n{THIRD}", "b": SECOND}, fates.LOST, ["a"], []),
    (QUOTE, {"disk": f"{FIRST}\n\n{THIRD}"}, fates.LOST, ["disk"], []),
    (QUOTE, {}, fates.LOST, [], []),
    (QUOTE, {"disk": EDIT, "a": DISK.replace("ninety", "six")}, fates.CHANGED, ["disk"], QUOTE),
    (QUOTE, {"a": EDIT, "b": f"{SECOND}\n\n{THIRD}"}, fates.AMBIGUOUS, ["a", "b"], [QUOTE]),
    (STOCK, {"disk": f"{FIRST}\n\n{THIRD}", "a": NEAR}, fates.RE_ANCHORED, ["a"], [STOCK]),
    (QUOTE, {"all": f"{EDIT}\n\n{FILLER}"}, fates.MOVED, ["all"], QUOTE),
    (QUOTE, {"disk": "Tea is served."}, fates.LOST, ["disk"], []),  # its page lives
    (QUOTE, {"disk": "Tea.", "a": f"{FIRST}\n\n{THIRD}"}, fates.LOST, ["a", "disk"], []),
    (QUOTE, {"disk": "Tea.", "volume": EDIT}, fates.MOVED, ["volume"], QUOTE),
    (QUOTE, {"disk": "Tea.", "a": LONG}, fates.RE_ANCHORED, ["a"], [QUOTE]),
    (STOCK, {"disk": f"Tea. {STOCK}"}, fates.RE_ANCHORED, ["disk"], [STOCK]),
    (QUOTE, {"disk": f"The old way is obsolete.\n\n{DISK}"}, fates.AGAIN, ["disk"], [QUOTE]),
    (PARTS, {"volume": f"Only for volumes.\n\n{EDIT}"}, fates.AGAIN, ["volume"], PARTS[0]),
    (QUOTE, {"disk": f"{DISK}\n\nThe old way is obsolete."}, fates.CHANGED, ["disk"], QUOTE),
    ("Delete the old logs first", {"disk": f"{SECOND} Delete the old mails last."},
     fates.RE_ANCHORED, ["disk"], ["Delete the old mails last"]),
]  # fmt: skip


def test_a_like_passage_that_stood_beside_the_quote_is_no_heir_of_it(old):
    mails = "Delete the old mails first."
    page(old, "disk", f"{DISK}\n\n{mails}")
    label(old, OTHER)
    pages = {"queue": QUEUE, "disk": f"{SECOND}\n\n{THIRD}\n\n{mails}"}
    assert carried(old, pages)[1]["q1", "disk"]["outcome"] == fates.LOST


def test_needs_go_with_the_quotes_that_meet_them(old):
    table = old / "retrieval_queries.jsonl"
    needs = {"n1": "what to do", "n2": "whom to call"}
    change(table, lambda row: {**row, "needs": needs} if row["query_id"] == "q1" else row)
    meets = [{"quotes": [QUOTE], "needs": ["n2"]}, OTHER]
    label(old, meets)
    to, _, _ = carried(old, {"queue": QUEUE, "disk": EDIT.replace(QUOTE, WRAPPED)})
    kept = [row for row in rows(to / "judgments.jsonl") if row["doc_id"] == "disk"]
    assert kept[0]["evidence"] == [{"quotes": [WRAPPED], "needs": ["n2"]}, OTHER]
    to, _, _ = carried(old, {"disk": DISK.replace("wait", "hope").replace(OTHER, "")}, to="later")
    waiting = reading.waiting(evalset.load(to))["q1", "disk"]
    assert waiting["evidence"] == [{"quotes": [QUOTE], "needs": ["n2"]}]


@pytest.mark.parametrize(("evidence", "pages", "outcome", "homes", "there"), CASES)
def test_what_becomes_of_a_label(old, evidence, pages, outcome, homes, there):
    label(old, evidence)
    to, journal, _ = carried(old, {"queue": QUEUE} | pages)
    fate = journal["q1", "disk"]
    assert (fate["outcome"], sorted(fate["doc_ids"])) == (outcome, homes)
    new, judged = evalset.load(to), {row["doc_id"]: row for row in rows(to / "judgments.jsonl")}
    waiting = {d: row for (q, d), row in reading.waiting(new).items() if q == "q1"}
    if outcome in TAKEN:
        (home,), homes = homes, []
        assert (judged[home]["relevance"], judged[home]["evidence"]) == (2, there)
    assert fate["decided"] == ("to read" if homes else "carry")
    assert {d for d, row in waiting.items() if "relevance" in row} == {*homes}
    for doc_id in homes:
        row, body = waiting[doc_id], new.documents[doc_id].retrieval_text
        assert row["why"].startswith(outcome) and row["relevance"] == 2
        assert [body[start:end] for start, end in row["passages"]] == there


def test_what_several_pages_say_tells_of_none_where_it_came_from(old):
    form = "Ask the team on duty before you restart anything at all here."
    page(old, "disk", f"{DISK}\n\n{form}"), page(old, "queue", f"{QUEUE}\n\n{form}")
    label(old, form)
    pages = {"queue": f"{QUEUE}\n\n{form}", "new": f"Somebody else wrote this one. {form}"}
    fate = carried(old, pages)[1]["q1", "disk"]
    assert (fate["outcome"], fate["doc_ids"]) == (fates.LOST, [])


@pytest.mark.parametrize("words", ["Deprecated", "moved", "removed", "replaced", "no longer"])
def test_a_title_that_newly_warns_asks_again_and_says_why(old, words):
    pages, titled = {"queue": QUEUE, "disk": EDIT}, f"Help ({words})"
    to, _, _ = carried(old, pages, titled)
    row = reading.waiting(evalset.load(to))["q1", "disk"]
    assert row["why"] == f"read again: its first lines say {words.lower()} now"
    label(to, QUOTE)  # accepted, and then it's no news
    (to / reading.TO_READ).unlink()
    to, journal, _ = carried(to, {"disk": EDIT.replace("eighty", "seventy")}, titled, "newer")
    assert journal["q1", "disk"]["outcome"] == fates.CHANGED


RESTART = QUEUE.replace("Add a consumer when the queue grows.", "")
ITEM = "- grow the queue\n- logs: a\n  and b"
SENTENCES = [
    (
        "Help\n\nOne two\nthree. Four! *Five?* Six",
        ["Help", "One two\nthree.", "Four!", "*Five?*", "Six"],
    ),
    (f"{ITEM}\n1. one", [*ITEM.split("\n", 1)[:1], "- logs: a\n  and b", "1.", "one"]),
    ("# Head\n| a | b |\n| c | d |", ["# Head", "| a | b |", "| c | d |"]),
    ("one\n## Two\nthree", ["one", "## Two", "three"]),
    ("> [!NOTE]\n> one\n> two\n>\n> three", ["> [!NOTE]\n> one\n> two\n>", "> three"]),
    ("So:\n```\na: 1\nb: 2\n```\nend", ["So:", "```", "a: 1", "b: 2", "```", "end"]),
    ("一。二！三", ["一。", "二！", "三"]),
    ("", []),
]


@pytest.mark.parametrize(("body", "found"), SENTENCES)
def test_sentences_do_not_end_with_a_line(body, found):
    assert [body[start:end] for start, end in fates.sentences(body)] == found


ZEROS = [  # (what queue is later, outcome of its 0 for q1 "logs fill the queue", pages, to read)
    ({"queue": QUEUE}, fates.KEPT, ["queue"], []),
    ({"line": QUEUE}, fates.MOVED, ["line"], []),
    ({"queue": QUEUE + "\n\nNever twice."}, fates.CHANGED, ["queue"], []),
    ({"queue": QUEUE + "\n\nSee its logs."}, fates.AGAIN, ["queue"], ["See its logs."]),
    ({"queue": QUEUE.replace(" ", "\n")}, fates.CHANGED, ["queue"], []),
    ({"queue": f"If the [queue](a/b9.md) grows, don't.{RESTART}"}, fates.CHANGED, ["queue"], []),
    ({"queue": QUEUE.replace("grows", "grows by 3")}, fates.AGAIN, ["queue"],
     ["Add a consumer when the queue grows by 3."]),
    ({"queue": "Add a fast consumer as the queue grows." + RESTART}, fates.AGAIN, ["queue"],
     ["Add a fast consumer as the queue grows."]),
    ({"queue": "Tea is served."}, fates.AGAIN, ["queue"], []),  # nothing of it is left
    ({}, fates.LOST, [], []),
]  # fmt: skip


@pytest.mark.parametrize(("pages", "outcome", "homes", "marked"), ZEROS)
def test_a_zero_follows_its_page_unless_new_text_asks_to_read(old, pages, outcome, homes, marked):
    to, journal, _ = carried(old, pages | {"disk": DISK})
    fate, new = journal["q1", "queue"], evalset.load(to)
    assert (fate["outcome"], fate["doc_ids"]) == (outcome, homes)
    kept = () if outcome == fates.AGAIN else homes
    assert new.qrels()["q1"] == {"disk": 2} | dict.fromkeys(kept, 0)
    row, body = reading.waiting(new).get(("q1", "queue"), {}), new.documents.get("queue")
    assert [body.retrieval_text[a:b] for a, b in row.get("passages", [])] == marked


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ("倉庫の在庫を毎朝確認す\nる。", fates.CHANGED),
        ("倉庫の在庫を毎朝2回確認する。", fates.AGAIN),
        ("재고를\n매일 확인", fates.CHANGED),
    ],
)
def test_a_zero_of_a_script_without_spaces(old, body, outcome):
    (old / "settings.json").write_text('{"words": "bigrams"}')
    page(old, "queue", f"{QUEUE}\n\n倉庫の在庫を毎朝確認する。\n\n재고를 매일 확인")
    asked = [row | {"query": "在庫 재고"} for row in rows(old / "retrieval_queries.jsonl")]
    write_rows(old / "retrieval_queries.jsonl", *asked)
    _, journal, _ = carried(old, {"disk": DISK, "queue": f"{QUEUE}\n\n{body}"})
    assert journal["q1", "queue"]["outcome"] == outcome


def two_labels(old, disk, queue):
    """Let the only query have a grade on each of the two documents; return the rows."""
    pairs = [("disk", disk, OTHER), ("queue", queue, QUEUE[:20])]
    judged = [{"query_id": "q1", "doc_id": d, "relevance": g, "evidence": e} for d, g, e in pairs]
    write_rows(old / "judgments.jsonl", *judged)
    query = {"query_id": "q1", "query": "logs", "relevant_doc_ids": ["disk", "queue"]}
    write_rows(old / "retrieval_queries.jsonl", query)
    return judged, query


def test_of_two_labels_on_a_merged_page_the_higher_grade_counts(old):
    judged, query = two_labels(old, 1, 2)
    write_rows(old / "judgments.jsonl", judged[0], judged[1] | {"offered": "m"})  # one of two
    to, _, _ = carried(old, {"all": f"{DISK}\n\n{QUEUE}"})
    assert rows(to / "judgments.jsonl") == [judged[1] | {"doc_id": "all"}]
    assert rows(to / "retrieval_queries.jsonl") == [query | {"relevant_doc_ids": ["all"]}]


@pytest.mark.parametrize(("sure", "unsure"), [(1, 2), (2, 1)])
def test_what_is_not_sure_and_says_more_is_read_and_what_says_less_is_not(old, sure, unsure):
    two_labels(old, sure, unsure)
    changed = QUEUE.replace("a consumer", "a new consumer")
    to, journal, _ = carried(old, {"all": f"{DISK}\n\n{changed}"})
    decided, left, judged = "carry", [], {"q1": {"all": 2}}
    if unsure > sure:
        decided, left, judged = "to read", [2], {}
    assert {row["decided"] for row in journal.values()} == {decided}
    evals = evalset.load(to)
    assert [row["relevance"] for row in reading.waiting(evals).values()] == left
    assert evals.qrels() == judged


def test_a_new_page_that_a_ranker_finds_is_to_be_read(old):
    pages = {"disk": DISK, "queue": QUEUE, "new": "The volume has logs."}
    to, _, lines = carried(old, pages)  # disk, which nobody judged for q2, is not new
    assert lines[-1].endswith(f"next: make lab EVALS={to} opens what is to be read")
    waiting = reading.waiting(evalset.load(to))
    assert [*waiting] == [("q1", "new"), ("q2", "new")]
    whys = [row["why"] for row in waiting.values()]
    assert whys == [f"new text, rank {n} of the rankers together" for n in (2, 3)]


@pytest.mark.parametrize("name", ["disk", "volume"])
def test_a_page_that_was_offered_before_is_not_offered_again_for_its_change(old, name):
    to, _, _ = carried(old, {name: EDIT, "queue": QUEUE})  # q2 found it, nobody judged it
    assert not reading.waiting(evalset.load(to))


def test_a_zero_that_rose_is_listed_with_its_former_label(old, monkeypatch):
    ranked = {carry.FIRST: {"q1": ["queue"]}, carry.POOLED: {}}
    monkeypatch.setattr(carry, "_by_fused_rank", lambda _, depth: ranked[depth])
    to, _, _ = carried(old, {"disk": DISK, "queue": QUEUE + "\n\nSee its logs."})
    ((pair, row),) = reading.waiting(evalset.load(to)).items()
    assert (pair, row.get("relevance")) == (("q1", "queue"), 0)


def test_the_list_begins_with_what_can_change_most(old):
    pages = {"disk": DISK.replace("wait", "hope"), "new": "The logs."}
    pages["queue"] = f"It's obsolete.\n\n{QUEUE}\n\nSee its logs."
    to, _, lines = carried(old, pages)
    listed = rows(to / reading.TO_READ)
    assert [row.get("relevance") for row in listed] == [2, 1, None, None, 0]
    told = ["full answers before: 1", "parts of one before: 1", "new text: 2", "zeros before: 1"]
    assert [line.strip() for line in lines[-6:-2]] == told


def test_what_no_ranker_finds_first_is_not_read(old):
    near = {f"near{n}": f"The logs fill the queue {'now ' * n}." for n in range(5)}
    changed = {"queue": QUEUE + "\n\nSee its logs."}
    to, journal, _ = carried(old, {"disk": DISK} | near | changed)
    assert journal["q1", "queue"]["outcome"] == fates.CHANGED
    listed = [doc_id for query_id, doc_id in reading.waiting(evalset.load(to)) if query_id == "q1"]
    assert sorted(listed) == [*near]


def test_a_page_that_is_wrapped_anew_is_no_new_text(old):
    page(old, "far", "A disk is read by nobody,\nor so they say of the logs.")
    pages = {"far": "A disk is read\nby nobody, or so they say of the logs.", "new": "The logs."}
    to, _, _ = carried(old, pages | {"disk": DISK, "queue": QUEUE})
    assert {doc_id for _, doc_id in reading.waiting(evalset.load(to))} == {"new"}


def test_a_page_without_words_of_its_own_is_read_where_a_sentence_gained_some(old):
    page(old, "twin", QUEUE)
    _, journal, _ = carried(old, {"disk": DISK, "queue": QUEUE.replace(" ", "\n")})
    assert journal["q1", "queue"]["outcome"] == fates.CHANGED


def test_a_query_that_loses_its_last_answer_waits(old):
    _, _, lines = carried(old, {"queue": QUEUE})
    assert "lost: q1 disk" in lines and "without a full answer now: q1" in lines
    assert "next: 1 query waits for a relevant document: q1; " in lines[-1]


def test_a_label_without_quotes_that_is_read_again_gets_none(old):
    (old / "judgments.jsonl").unlink()
    to, _, _ = carried(old, {"volume": f"It's obsolete.\n\n{DISK}", "queue": QUEUE})
    row = reading.waiting(evalset.load(to))["q1", "volume"]
    assert (row["relevance"], row["passages"], row.get("evidence")) == (1, [], None)


def test_labels_without_quotes_rest_on_the_whole_text(old):
    (old / "judgments.jsonl").unlink()
    to, journal, _ = carried(old, {"volume": f"{DISK}\n\nMore.", "queue": QUEUE[5:]})
    outcomes = [journal[pair]["outcome"] for pair in (("q1", "disk"), ("q2", "queue"))]
    assert outcomes == [fates.MOVED, fates.AGAIN]
    asked = {q: query.relevant_doc_ids for q, query in evalset.load(to).all_queries.items()}
    assert asked == {"q1": ("volume",), "q2": ()}


def test_the_other_files_follow_and_the_journal_grows(old):
    pool = [{"query_id": "q1", "doc_id": d, "rankers": ["x"]} for d in ("disk", "queue")]
    write_rows(old / "pool.jsonl", *pool)
    asked = [row | {"language": "nl", "round": 2} for row in rows(old / "retrieval_queries.jsonl")]
    write_rows(old / "retrieval_queries.jsonl", *asked)
    twice = {"query_id": "q1", "doc_id": "disk", "round": 1, "first": 2, "second": 2, "final": 2}
    twice |= {"batch": "b7", "evidence": ["as it was", ["a", "b"]]}
    differs = twice | {"reason": "", "doc_id": "queue", "final": 1}
    write_rows(old / "second_pass.jsonl", twice | {"reason": ""}, differs)
    (old / "notes.md").write_text("## q1\nRead.\n")
    drafts = [{"doc_id": "disk", "query": query} for query in ("full disk?", "logs?")]
    write_rows(old / "proposed.jsonl", *drafts)
    to, _, _ = carried(old, {"volume": DISK, "queue": QUEUE})
    assert rows(to / "proposed.jsonl") == [draft | {"doc_id": "volume"} for draft in drafts]
    assert rows(to / "pool.jsonl") == [pool[0] | {"doc_id": "volume"}, pool[1]]
    assert rows(to / "second_pass.jsonl") == [twice | {"reason": "", "doc_id": "volume"}]
    moved = asked[0] | {"relevant_doc_ids": ["volume"]}
    assert rows(to / "retrieval_queries.jsonl") == [moved, asked[1]]
    assert (to / "notes.md").read_text() == "## q1\nRead.\n"
    carry.carry_command(to, str(old), old.parent / "back")
    again = rows(old.parent / "back" / "history.jsonl")
    assert [row["carry"] for row in again] == [1] * 3 + [2] * 3
    assert (again[0]["from"], again[0]["to"]) == (again[-1]["to"], again[-1]["from"])


def test_the_same_documents_change_nothing(old):
    table = old / "judgments.jsonl"
    table.write_text(table.read_text().replace(": ", ":  "))  # in somebody's own form
    (old / "negatives.jsonl").write_text('{"query_id": "q1", "easy": [], "hard": ["queue"]}\n')
    (old / "judge.jsonl").touch()
    write_rows(old / "proposed.jsonl", {"doc_id": "disk", "query": "full disk?"})
    before = {path.name: path.read_bytes() for path in old.rglob("*.*")}
    lines = carry.carry_command(old, str(old), old.parent / "new")
    after = {path.name: path.read_bytes() for path in (old.parent / "new").rglob("*.*")}
    assert not any("judge.jsonl" in line for line in lines)
    assert after.keys() - before.keys() == {"history.jsonl"} and before.items() <= after.items()


def test_labels_are_carried_to_documents_of_an_import(old):
    docs = old.parent / "docs"
    docs.mkdir()
    (old / "judge.jsonl").touch()
    (docs / "a.md").write_text(f"# disk\n{DISK}")
    labels = old / "judgments.jsonl"  # an accepted offer stays one
    labels.write_text(
        labels.read_text().replace('"relevance": 2,', '"relevance": 2, "offered": "m",')
    )
    lines = carry.carry_command(old, f"markdown:{docs}", old.parent / "new")
    evals = evalset.load(old.parent / "new")
    assert [*evals.documents] == ["a"] and evals.qrels()["q1"] == {"a": 2}
    assert evals.offered == {("q1", "a"): "m"}
    assert lines[:5] == [
        "documents: 2 before, 1 now; 1 changed or in others, 1 gone",
        "labels above 0: 2. moved: 1; lost: 1",
        "labels of 0: 1. lost: 1",
        "lost: q2 queue",
        "pairs to read: 0",
    ]
    assert lines[5].startswith("not carried: negatives") and "judge.jsonl" in lines[5]


def test_what_cannot_be_read_is_told_with_its_place_and_nothing_is_written(old):
    empty, broken = old.parent / "empty", old.parent / "broken"
    empty.mkdir()
    page(other := old.parent / "other", "disk", "Nothing of it.")
    page(broken, "a", "x")
    (broken / "corpus" / "a.md").write_text("no front matter")
    page(copied := old.parent / "copied", "a", DISK, "Help\ncopy_of: disk")
    for source, told in [
        ("pdf:x", "--from: found pdf:x, wanted KIND:PATH with a kind of: markdown, "),
        ("docs", "--from: docs: no such folder"),
        (f"markdown:{empty}", "found no documents, wanted some with a text"),
        (str(empty), f"--from: {empty}: no corpus/ or corpus.jsonl in it, or did you mean FROM="),
        (str(broken), f"{broken}/corpus/a.md:1: no front matter"),
        (str(copied), f"{copied}/corpus/a.md:1: copy_of is 'disk', wanted the id of another"),
        (str(other), f"none of the 2 documents of {old} is found in {other}: is it the source"),
    ]:
        with pytest.raises(evalset.EvalSetError) as raised:
            carry.carry_command(old, source, old.parent / "new")
        assert told in str(raised.value) and not (old.parent / "new").exists(), source
    with pytest.raises(evalset.EvalSetError, match="is not empty"):
        carry.carry_command(old, str(old), old)


OLD_LABEL = {"query_id": "q1", "doc_id": "extra", "relevance": 2, "evidence": "More."}
HELD = [  # (file, row, what is told where documents change)
    (reading.TO_READ, OLD_LABEL, r"1 label to be read; judge them first, .*make lab EVALS=.*old"),
    (reading.TO_READ, {"query_id": "q1", "doc_id": "extra"}, ""),
    (reading.TO_READ, {"query_id": "q1", "doc_id": "gone"}, r"to_read.jsonl:1: document gone is "),
    ("labelling.jsonl", OLD_LABEL, r"1 label not in judgments.jsonl .click Finish.; "),
    ("labelling.jsonl", OLD_LABEL | {"doc_id": "disk", "evidence": QUOTE}, ""),
    ("labelling.jsonl", OLD_LABEL | {"repeat": True}, ""),
    ("labelling.jsonl", {"query_id": "q1", "doc_id": "", "relevance": 0, "kind": "x"}, ""),
]


@pytest.mark.parametrize(("name", "row", "told"), HELD)
def test_a_label_that_no_new_file_would_hold_is_judged_or_merged_first(old, name, row, told):
    page(old, "extra", "More.")
    write_rows(old / name, row)
    refused = pytest.raises(evalset.EvalSetError, match=told) if told else nullcontext()
    with refused:
        carried(old, {"disk": EDIT, "queue": QUEUE, "extra": "More."})
    assert (old.parent / "new").exists() == (told == "")
    if "gone" not in told:  # the same documents keep both files
        carry.carry_command(old, str(old), old.parent / "same")
        assert (old.parent / "same" / name).read_text() == (old / name).read_text()


def test_a_run_of_the_old_documents_is_refused_and_carry_is_named(old):
    evals, run = evalset.load(old), old.parent / "mine.trec"
    runs.write_trec(run, {"q1": [("disk", 1.0)]}, "x")
    runs.write_card(run.with_suffix(".json"), evals, {})
    to, _, _ = carried(old, {"disk": EDIT, "queue": QUEUE})
    with pytest.raises(evalset.EvalSetError, match="make the run again, .*make carry takes labels"):
        systems.read_checked(run, evalset.load(to))


def snapshot(folder):
    """Return {path in a set: bytes}, without locks."""
    found = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


OUT_OF_DATE = ("runs/fixed.trec", "systems/mine.json", "comparisons/a.html", "chunks/fixed.jsonl")
OUT_OF_DATE += ("results.json", "negatives.jsonl", "judge.jsonl", "labelling.jsonl")
OUT_OF_DATE += ("skipped.jsonl",)
STAYS = ("systems/mine.py", "manifest.json", "retrieval_eval.ipynb")


@pytest.fixture
def used(old):
    """Return the set with what a working folder holds, and the source of its later pages."""
    for name in (*OUT_OF_DATE, *STAYS):
        (old / name).parent.mkdir(exist_ok=True)
        (old / name).touch()
    (old / "settings.json").write_text('{"confirmed": {"mine": "2026-01-02"}, "matters": 0.1}')
    (old / "notes.md").write_text("## q1\nRead.\n")
    manifest.write_manifest(evalset.load(old), {})
    source = old.parent / "source"
    page(source, "volume", EDIT), page(source, "queue", QUEUE), page(source, "new", "The logs.")
    return old, str(source)


def test_in_place_it_is_the_same_set_and_what_does_not_hold_is_kept_aside(used):
    old, source = used
    before, corpus_hash = snapshot(old), evalset.load(old).corpus_hash()
    carry.carry_command(old, source, to := old.parent / "new")
    lines = carry.carry_command(old, source, in_place=True)
    former = f"former/1-{corpus_hash[:12]}"
    assert f"moved to {former}: 13 files replaced or out of date" in lines
    assert f"manifest.json is of the old documents: make freeze EVALS={old}" in lines
    assert "no longer confirmed: mine" in lines and "next: make lab EVALS" in lines[-1]
    after, made = snapshot(old), snapshot(to)
    assert after.items() >= made.items()
    aside = {name for name in after if name.startswith("former")}
    assert after.keys() - made.keys() - aside == {*STAYS}
    replaced = {"corpus/disk.md", "judgments.jsonl", "retrieval_queries.jsonl", "settings.json"}
    assert aside == {f"{former}/{name}" for name in {*OUT_OF_DATE} | replaced}
    assert all(after[f"{former}/{name}"] == before[name] for name in {*OUT_OF_DATE} | replaced)
    assert files.json_page(old / "settings.json") == {"confirmed": {}, "matters": 0.1}
    assert "corpus/disk.md is missing" in manifest.differences(old)
    assert not (old / "runs").exists() and (old / "systems").exists()


def test_in_place_and_back_the_labels_are_the_old_ones(used):
    old, source = used
    shutil.copytree(old, before := old.parent / "before")
    for home in (source, str(before), source):
        (old / reading.TO_READ).unlink(missing_ok=True)
        carry.carry_command(old, home, in_place=True)
        if home != source:
            for name in ("judgments.jsonl", "retrieval_queries.jsonl", "corpus/disk.md"):
                assert (old / name).read_bytes() == (before / name).read_bytes()
    assert sorted(path.name[:2] for path in (old / "former").iterdir()) == ["1-", "2-", "3-"]


def test_in_place_the_same_documents_change_nothing(used):
    old, source = used
    carry.carry_command(old, source, in_place=True)  # disk is volume now
    before = snapshot(old)
    lines = carry.carry_command(old, source, in_place=True)
    assert lines == [f"{old} has these documents already: nothing is changed"]
    assert snapshot(old) == before


def test_a_new_front_matter_leaves_runs_and_confirmed(used):
    old, _ = used
    page(source := old.parent / "other", "disk", DISK), page(source, "queue", QUEUE)
    dated = source / "corpus" / "disk.md"
    dated.write_text(dated.read_text().replace("title", "updated: 2026-01-02\ntitle"))
    before = snapshot(old)
    carry.carry_command(old, str(source), in_place=True)
    after = snapshot(old)
    assert after["corpus/disk.md"] == dated.read_bytes()
    assert {name for name in before if before[name] != after.get(name)} == {"corpus/disk.md"}


WRITES = ("open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "shutil.rmtree")


def killed_at(number, old, source):
    """Carry in place in a process that ends at its nth write; return whether it came so far.

    What is written into the folder beside the set's files counts as one, and its journal.
    """
    if child := os.fork():
        return os.waitpid(child, 0)[1] != 0
    count, beside = 0, f"{(old / evalset.JOURNAL).parent}{os.sep}"

    def end(event, values):
        nonlocal count
        is_read = event == "open" and not (values[2] or 0) & (os.O_WRONLY | os.O_RDWR)
        if event in WRITES and not is_read:
            paths = [str(value) for value in values[:2] if str(old) in str(value)]
            count += any(beside not in path or "journal" in path for path in paths)
            if count == number:
                os._exit(9)

    sys.addaudithook(end)
    try:
        carry.carry_command(old, source, in_place=True)
    finally:
        os._exit(0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a process is killed in a fork")
def test_killed_at_any_write_the_same_command_ends_in_the_same_state(used, monkeypatch):
    old, source = used
    for name in OUT_OF_DATE[2:]:
        (old / name).unlink()
    ranked = {carry.FIRST: {"q1": ["new"]}, carry.POOLED: {}}
    monkeypatch.setattr(carry, "_by_fused_rank", lambda _, depth: ranked[depth])  # for speed
    shutil.copytree(old, before := old.parent / "before")
    carry.carry_command(old, source, in_place=True)
    wanted, number, halfway = snapshot(old), 1, 0
    while True:
        shutil.rmtree(old)
        shutil.copytree(before, old)
        if not killed_at(number, old, source):
            break
        if (old / evalset.JOURNAL).exists():
            halfway += 1
            with pytest.raises(evalset.EvalSetError, match="the same command once more"):
                evalset.load(old)
        carry.carry_command(old, source, in_place=True)
        assert snapshot(old) == wanted, number
        number += 1
    assert snapshot(old) == wanted and halfway >= 15


def test_what_is_refused_in_place_leaves_the_set_as_it_was(used):
    old, _ = used
    before = snapshot(old)
    page(other := old.parent / "other", "disk", "Nothing of it.")
    with pytest.raises(evalset.EvalSetError, match="none of the 2 documents"):
        carry.carry_command(old, str(other), in_place=True)
    assert snapshot(old) == before and not (old / evalset.JOURNAL).parent.exists()
