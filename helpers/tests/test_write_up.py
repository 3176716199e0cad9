"""What the write-up decides and says, on results that were made for it."""

import html
import json

import pytest
from conftest import published, write_rows

from helpers.measure import compare, evalset, evidence, files, results, runs, stats
from helpers.teach import write_up
from helpers.teach.write_up import ENOUGH, Share, WriteUp


@pytest.fixture
def small(folder):
    """Return a set of two documents and two queries with a saved run."""
    (folder / "runs").mkdir()
    rankings = {"q1": [("disk-full", 2.0)], "q2": [("queue-full", 1.0)]}
    runs.write_trec(folder / results.RUN, rankings, "t")
    return evalset.load(folder)


def queries(*parts, half="test"):
    """Return rows of per_query; a part is (kind, how many find something, how many there are).

    With a fourth number two in three have a full answer, and so many first ones find it.
    """
    return [
        {"query_id": f"{kind}{n}", "query": "a", "kind": kind, "split": half, "relevant": {},
         "retrieved": [], "first_rank": None, "measures": {"hit@5": n < found, "nDCG@10": 1}
         | ({"full hit@5": float(n < more[0])} if more and n % 3 else {})}
        for kind, found, of, *more in parts
        for n in range(of)
    ]  # fmt: skip


def run(name, verdict, difference=0.1, detectable=0.2, p=0.5):
    row = {"difference": difference, "detectable": detectable, "n": 30, "low": 0.01, "high": 0.2}
    made = {"name": name, "primary": "nDCG@10", "measures": {"nDCG@10": row}, "p_holm": p}
    return made | {"verdict": verdict, "bounds": [-0.01, 0.21]}


def made(small, *parts, others=(), cards=(), test=True):
    """Return the write-up of our results with other queries, runs and failures."""
    whole = published()
    compared = whole["compared_dev"] | {"runs": [*others], "n": 30, "matters": 0.05}
    summary = {half: whole["summary"][half] for half in ("dev", "test")[: 1 + test]}
    rows = queries(*(parts or [("a", 1, 1)]), half="test" if test else "dev")
    changes = {"per_query": rows, "compared_dev": compared, "summary": summary, "cards": [*cards]}
    return WriteUp(whole | changes, small)


def said(write_up, section, **more):
    return str(write_up.section(section, **more).data)


FIRST_FIVE = "to put a useful document among the first five"
VERDICTS = [  # (parts, verdict)
    ([("a", 30, 30), ("b", 0, 30), ("c", 7, 10)],
     f"BM25 is good enough {FIRST_FIVE} for *a* questions, but not for *b* questions; for *c* "
     "questions there are too few to tell."),
    ([("a", 30, 30), ("b", 30, 30)],
     f"BM25 is good enough {FIRST_FIVE} for *a* and *b* questions."),
    ([("a", 0, 30), ("c", 7, 10)],
     f"BM25 isn't good enough {FIRST_FIVE} for *a* questions; for *c* questions there are too few "
     "to tell."),
    ([("a", 1, 1), ("b", 0, 1)],
     f"2 questions can't tell whether BM25 is good enough {FIRST_FIVE}: it does so for 1."),
    ([("a", 30, 30)],
     f"BM25 is good enough {FIRST_FIVE}: it does so for 30 of 30 questions."),
    ([("a", 1, 30)],
     f"BM25 isn't good enough {FIRST_FIVE}: it does so for 1 of 30 questions."),
]  # fmt: skip


def test_what_the_baseline_is_good_enough_for(small):
    for parts, verdict in VERDICTS:
        told = said(made(small, *parts), "verdict")
        assert told == f"**{verdict}** No other system was measured.", parts
    for low, high, side in ((ENOUGH, 1, "open"), (0, ENOUGH, "open"), (ENOUGH + 0.01, 1, "good")):
        assert Share("a", 1, 2, low, high).side == side
    shares = made(small, ("a", 1, 9), ("b", 8, 9), ("c", 8, 9)).shares()
    assert [share.name for share in shares] == ["all questions", "b", "c", "a"]
    share = made(small, ("a", 9, 10)).shares()[0]
    assert (round(share.low, 3), round(share.high, 3)) == (0.596, 0.982)  # Wilson's of 9 of 10


def test_the_verdict_says_whether_it_means_useful_or_in_full(small):
    parts = ("a", 30, 30, 0), ("b", 30, 30, 30)
    page = made(small, *parts)
    page.results["summary"] = {"test": page.results["summary"]["test"] | {"full": {"n": 40}}}
    told = said(page, "verdict").partition("** ")[0]
    assert told.startswith(f"**BM25 is good enough {FIRST_FIVE} for *a* and *b* questions. BM25 i")
    assert "to put a full answer among the first five for *a* questions; for *b* questions" in told
    shares = [(share.name, share.found, share.n) for share in page.shares(write_up.FULL)]
    assert shares == [("all questions", 20, 60), ("b", 20, 30), ("a", 0, 30)]  # of all questions
    assert "- **20 of the 40** that have a full answer had it among" in said(page, "numbers")
    assert "a full answer was judged 2 or more" in said(page, "bar")
    assert made(small, ("a", 1, 1)).shares(write_up.FULL) == []


OTHERS = " on the dev half (other systems, other chunks),"
SHOWN = [  # (runs, what is said of them)
    ([run("x", stats.BETTER), run("y", stats.BETTER, 0.2), run("z", stats.WORSE)],
     f"Of 3 other runs{OTHERS} 2 rank better (*y* and *x*) and 1 ranks worse (*z* chunks)."),
    ([run("z", stats.WORSE)], f"Of 1 other run{OTHERS} 1 ranks worse (*z* chunks)."),
    ([run("x", stats.SAME), run("y", stats.TOO_FEW)],
     f"Of 2 other runs{OTHERS} none is shown to rank better or worse; 1 makes no difference that "
     "matters; for 1 there are too few questions to tell."),
    ([run("x", stats.BETTER), *(run(str(n), stats.SAME) for n in range(2))],
     f"Of 3 other runs{OTHERS} 1 ranks better (*x*); 2 make no difference that matters."),
]  # fmt: skip


def test_what_was_shown_of_others(small):
    for others, words in SHOWN:
        page = made(small, ("a", 30, 30), others=others)
        page.results["evidence"] = {"dev": {"sets": {"z": {}}}}
        told = said(page, "verdict")
        assert told.partition(".** ")[2] == words


def actions(small, **more):
    """Return the items of what to do next."""
    return said(made(small, **more), "next").split("\n")


REPAIRS = {
    "no shared word": "Bridge the words",
    "missing word": "Bridge the words",
    "tie": "Adjust the weights",
    "length penalty": "Adjust the weights",
    "evidence split across chunks": "Cut differently",
    "version confusion": "Mark what is current",
}


def test_the_largest_repair_is_named_and_judging_comes_before_it(small):
    causes = ("missing word", "missing word", "version confusion")
    cards = [{"cause": cause, "unjudged": False} for cause in causes]
    lines = actions(small, cards=[*cards, {"cause": "tie", "unjudged": True}])
    begins = ("Stay with BM25", "Judge first.", "Bridge the words.", "More labels aren't needed")
    assert all(line.startswith(f"- **{b}") for line, b in zip(lines, begins, strict=True))
    assert "In 1 of 4 failure cards nobody" in lines[1] and "In 2 of 4 dev questions" in lines[2]
    assert len(actions(small)) == 2  # no failure, no repair
    for cause, words in REPAIRS.items():
        lines = actions(small, cards=[{"cause": cause, "unjudged": False}])
        assert f"- **{words}.** In 1 of 1 dev questions" in lines[1]


def halves(verdict, difference=0.05):
    of = {"difference": difference, "low": None, "high": None, "verdict": stats.BETTER}
    between = of | {"difference": difference - 0.1, "low": -0.2, "high": 0.1, "verdict": verdict}
    return {"halves": {"dev": of, "test": of, "test minus dev": between}}


def test_what_is_better_on_dev_alone_waits_for_test(small):
    others = [run("x", stats.BETTER), run("baseline + y", stats.BETTER, 0.2, p=0.0001)]
    others.append(run("w", stats.WORSE, -0.1))
    for test, end in ((True, "see it once on test before you switch."),
                      (False, "measure it on new ones before you switch.")):  # fmt: skip
        first, second, *_ = actions(small, others=others, test=test)
        assert first.startswith("- **Stay with BM25 for now, BM25 merged with *y* waits.** It's ")
        assert "*baseline + y* in the tables, and makes" in first and "not confirmed" in first
        assert "gains +0.200 in nDCG@10" in first and "p = <.001, adjusted for 3 " in first
        assert first.endswith(end) and second.startswith("- **Don't switch to *w*.**")
    assert "in the tables" not in actions(small, others=others[:1])[0]


def test_a_switch_is_advised_where_test_confirms_it(small):
    best, next_best = run("y", stats.BETTER, 0.2), run("x", stats.BETTER)
    told = "On test it's +0.050 (95 %%, by itself: ), better: dev's choice is %s "
    told += "(Test minus dev: -0.050, -0.200 to +0.100.)"
    for of_best, of_next, begins, ends in (
        ({}, halves(stats.CONFIRMED), "Try *x*.", "confirmed."),
        (halves(stats.CONTRADICTED), {}, "Stay with BM25 for now, *y* waits.", "contradicted."),
        (halves(stats.NOT_CONFIRMED), halves(stats.CONFIRMED), "Try *x*.", "confirmed."),
        (halves(stats.CONFIRMED), halves(stats.CONFIRMED), "Try *y*.", "confirmed."),
    ):
        line = actions(small, others=[best | of_best, next_best | of_next])[0]
        assert line.startswith(f"- **{begins}**") and line.endswith(told % ends)


def test_what_queries_apart_from_dev_say_stands_beside_test(small):
    best = run("x", stats.BETTER) | halves(stats.CONFIRMED) | {"judged@10": 1.0}
    apart = {"n": 11, "difference": 0.02, "low": -0.01, "high": 0.05, "p": 0.5}
    best["halves"][compare.APART] = apart | {"verdict": stats.SAME}
    line = actions(small, others=[best])[0]
    end = "On the 11 test questions that share no relevant document with dev it's +0.020 (95 %, "
    assert line.endswith(end + f"by itself: -0.010 to +0.050), {stats.SAME} (p = 0.5000).")
    best["measures"] = {"nDCG@10": dict.fromkeys(stats.Paired._fields, 0.1)}
    page = made(small, others=[best])
    assert page.leaderboard()["on test"]["x"] == "+0.050, confirmed; apart +0.020 (n = 11)"
    assert "*Apart* are the test queries that" in said(page, "compared")
    del best["halves"][compare.APART]
    assert "*Apart*" not in said(made(small, others=[best]), "compared")


def test_the_data_card_says_what_the_kinds_are(small):
    assert "Kinds" not in said(made(small), "measured")
    (small.folder / "README.md").write_text("- **Kinds.** `a`: one. `b`: <two>.\n- **More.** x\n")
    told = "\n\n**Kinds of question.** <code>a</code>&#58; one. <code>b</code>&#58; &#60;two&#62;."
    assert html.unescape(said(made(small), "measured")).endswith(html.unescape(told))


def test_cards_say_what_the_systems_are(small):
    assert "*b*" not in said(made(small), "compared")
    files.write(small.folder / "systems" / "b.json", '{"system": "of 2021", "windows": "ten"}')
    files.write(small.folder / "systems" / "a.json", '{"packages": {}}')
    files.write(small.folder / "systems" / "c.json", '{"system": "<b>"}')
    told = "\n\n- *b*: of 2021. Windows: ten.\n- *c*: &#60;b&#62;."
    assert said(made(small), "compared").endswith(told)
    first = actions(small, others=[run("baseline + b", stats.BETTER)])[0]
    assert "makes one ranking of two. The other system is of 2021. On 30 dev" in first


@pytest.mark.parametrize("verdict", [stats.BETTER, stats.WORSE, stats.SAME, stats.TOO_FEW])
def test_the_board_says_what_test_says_of_a_run_or_that_nothing_confirms_it(small, verdict):
    row = dict.fromkeys(stats.Paired._fields, 0.1)
    of = run("x", verdict) | {"measures": {"nDCG@10": row}, "judged@10": 1.0}
    shown = verdict in (stats.BETTER, stats.WORSE)
    board = made(small, others=[of]).leaderboard()["on test"]
    assert [*board] == ["", "not looked at" if shown else ""]
    board = made(small, others=[of | halves(stats.CONTRADICTED)]).leaderboard()["on test"]
    assert board["x"] == "+0.050, contradicted"


def test_chunks_are_advised_where_test_confirms_them(small):
    at = {"difference": 0.1, "low": 0.05, "high": 0.15, "n": 30, "detectable": 0.1, "reason": "p"}
    keeps = "so the baseline keeps its chunks."
    for dev, test, end in (
        (stats.BETTER, None, f"That's not confirmed, {keeps}"),
        (stats.BETTER, at | {"verdict": stats.BETTER}, "That's confirmed: take these chunks."),
        (stats.BETTER, at | {"verdict": stats.TOO_FEW}, f"That's not confirmed, {keeps}"),
        (stats.BETTER, at | {"verdict": stats.WORSE, "difference": -0.1},
         f"That's contradicted, {keeps}"),
        (stats.SAME, None, "The baseline keeps its chunks."),
    ):  # fmt: skip
        sets = {"fixed": {}, "low": {"against": at | {"difference": 0, "verdict": stats.SAME}}}
        halves = {"dev": {"sets": sets | {"best": {"against": at | {"verdict": dev}}}}}
        halves |= {"test": {"sets": {"fixed": {}, "best": {"against": test}}}} if test else {}
        page = WriteUp(made(small).results | {"evidence": halves}, small)
        told = said(page, "chunks")
        assert f"The best of the others on dev is *best*, +0.100: {dev}, p." in told
        assert told.endswith(end) and ("test minus dev" in told) == bool(test)


PRICES = [  # (difference, detectable, words)
    (0.1, 0.2, "To know more, label more.** Of what is undecided, *x* gains most, +0.100. "),
    (0.1, 0.05, "Compare once more, alone.** *x* gains +0.100 and is undecided only because"),
    (0.05, 0.2, "To know more, label more.** Nothing undecided gains more than 0.05"),
    (-0.3, 0.04, "More labels aren't needed to find a large gain.** These 30 questions"),
    (0.1, None, "More labels aren't needed for these comparisons.**"),
]


def test_what_it_would_cost_to_know_more(small):
    for difference, detectable, words in PRICES:
        others = [run("x", stats.TOO_FEW, difference, detectable)]
        others.append(run("y", stats.TOO_FEW, -0.4, None))
        assert actions(small, others=others)[-1].startswith(f"- **{words}")
    others = [run("near", stats.TOO_FEW, 0.04, 0.04), run("wide", stats.TOO_FEW, -0.01, 0.2)]
    assert "vary as much as with *wide*" in actions(small, others=others)[-1]


def test_the_cost_counts_questions_and_pairs(small):
    row = run("x", stats.TOO_FEW)["measures"]["nDCG@10"]
    spread = row["detectable"] / stats.detectable(30, 1.0)
    needed = write_up.questions_needed(row, 0.1)
    assert stats.detectable(needed, spread) <= 0.1 < stats.detectable(needed - 1, spread)
    assert write_up.questions_needed(row, 0.3) == 30  # never fewer than there are
    line = actions(small, others=[run("x", stats.TOO_FEW)])[-1]  # two queries have 3 judgments
    assert f"It takes {needed:,} questions to show" in line and f"about {needed - 30} more" in line
    cost = f"{needed - 30} questions are {2 * (needed - 30):,} pairs"
    assert f"At 2 judged pairs a question, {cost}" in line


def test_a_reranker_sees_a_small_share_of_the_corpus(small):
    page = made(small)
    document = small.documents["disk-full"]
    for n, depth in ((2, 2), (219, 10), (220, 11), (441, 22), (2000, 100)):
        documents = {**small.documents, **{str(i): document for i in range(n - 2)}}
        page = made(small._replace(documents=documents))
        assert page.values["depth"] == depth, n
    for documents, small_corpus in ((9_999, True), (10_000, False)):
        told = said(page, "limits", corpus={"documents": documents})
        assert told.startswith(f"- {documents:,} documents are a small corpus.") == small_corpus


def test_sections_say_what_is_missing_where_it_is(small):
    page = made(small, cards=[], test=False)
    for section, words in {
        "failures": "No dev query has a misplaced document.",
        "nothing_shared": "No document shares a word with *a0*, so there's no card.",
        "about": "No data card says how this set was made.",
        "agreement": "No second reading yet.",
        "sources": ": [retrieval_queries.jsonl](retrieval_queries.jsonl), [judgments.jsonl](",
    }.items():
        assert words in said(page, section)
    page = WriteUp(page.results | {"evidence": {}}, small)
    assert said(page, "evidence").startswith("No dev label has a quote")
    by_k = {"any quote": [0.75] * 5, "evidence": [0.5] * 5}
    means = {"evidence hit@5": 0.5, evidence.DECIDES: 0.25}
    sets = {n: {"means": means, "any_quote": dict.fromkeys(means, n)} for n in (1, 0.75)}
    sets = {"fixed": sets[1], "best": sets[0.75]}
    halves = {half: {"by_k": by_k, "sets": sets} for half in ("dev", "test")}
    several = WriteUp(page.results | {"evidence": halves}, small)
    told, _, rest = said(several, "evidence").partition(" whose evidence is there.\n\n")
    assert "any quote for 0.750 of the dev queries, and what suffices for 0.500. The" in told
    table, _, ends = rest.partition("\n\n")
    assert table.split("\n")[0].endswith("| any quote, 2,000 tokens | what suffices |")
    assert table.split("\n")[2:] == [
        f"| {half} | {name} | {value} | 0.500 | {value} | 0.250 |"
        for half in halves
        for name, value in (("fixed", "1.000"), ("best", "0.750"))
    ]
    assert "by -0.250 in any" in ends and ends.endswith("by +0.000 in what suffices.")
    del by_k["any quote"]
    assert "quotes together" not in said(several, "evidence")
    assert "had none among the first ten" in said(page, "numbers")
    assert "The halves" not in said(page, "ranks") and "Besides" in said(page, "corpus")
    none = page.results["queries"] | {"unanswered": 0}
    assert "Besides" not in said(page, "corpus", queries=none)


def test_queries_in_another_language_and_of_the_newest_round_are_told_apart(small):
    assert "shown apart" not in said(made(small), "ranks")
    page = made(small, ("a", 3, 3, 2), ("b", 0, 1))
    page.rows["test"] = page.rows["test"].assign(**{"nDCG@10": [1, 1, 1, 0.5]})
    more = {"a0": ("", 1), "a1": ("nl", 2), "a2": ("de", 2), "b0": ("", 2)}
    asked = {q: evalset.Query(q, "a", (), language=x, round=n) for q, (x, n) in more.items()}
    page.evals = small._replace(queries=small.queries | asked)
    assert said(page, "ranks").partition("---: |\n")[2].split("\n") == [
        "| test | in another language | 2 | 1.000 | 0.500 |",
        "| test | of round 2, the newest | 3 | 0.833 | 0.333 |",
        "| test | without round 2 | 1 | 1.000 | 0.000 |",
    ]


def test_each_second_reading_is_told_and_no_row_of_the_pool(small):
    pair = {"query_id": "q1", "doc_id": "disk-full", "first": 2}
    write_rows(small.folder / "pool.jsonl", pair | {"rankers": ["a"]})
    again = pair | {"second": 2, "final": 2, "reason": ""}
    write_rows(small.folder / "second_pass.jsonl", again | {"round": 1}, again | {"round": 2})
    words = "1 pair, 100.0% equal, Cohen's kappa undefined (one grade only); equal by first grade"
    lines = said(made(small), "agreement").split("  \n")
    assert lines == [f"Second pass, round {n}: {words} 2: 100%." for n in (1, 2)]


def test_imperfect_queries_wait_for_a_repair_and_are_named_up_to_twenty(small):
    page = made(small, ("q", 0, 3), test=False)
    rows = page.rows["dev"]
    rows["nDCG@10"] = [1, 0.5, 0.5]
    rows["relevant"] = [{"disk-full": 1}, {"disk-full": 1}, {"queue-full": 1, "disk-full": 1}]
    assert (page.values["reorder"], page.values["fetch"]) == (["q1"], ["q2"])
    page = made(small)
    more = {"reorder": [f"q{n}" for n in range(22)], "fetch": []}
    told = said(page, "repairs", **more)
    assert told.startswith("22 of 0 dev queries score below 1 in nDCG@10.")
    assert "22 queries (q0, q1, q2," in told and "q19 and 2 more).\n- **Better" in told
    assert "isn't among them: 0 queries (none)." in told
    assert "q19).\n" in said(page, "repairs", **more | {"reorder": more["reorder"][:20]})


def test_a_card_tells_where_both_documents_stand_and_what_was_read(small):
    (small.folder / "notes.md").write_text("## a0\nsay `a<b`\n")
    failure = {"query_id": "a0", "wanted": "disk-full", "rival": "queue-full", "cause": "tie"}
    failure |= {"unjudged": True, "lacks": ["x", "y"]}
    rival = {"queue-full": small.documents["queue-full"]._replace(title="Full <b>")}
    small = small._replace(documents=small.documents | rival)
    page = made(small, cards=[failure], test=False)
    page.rows["dev"].at["a0", "retrieved"] = [["queue-full", 2.0]]
    assert said(page, "card", **page.cards()[0]) == (
        "#### a0: a\n\n**Tie** (a, nDCG@10 1.000). Wanted: “disk-full” (<code>disk-full</code>), "
        "after rank 10. Words it lacks: x, y. Rival: “Full &#60;b&#62;” (<code>queue-full</code>), "
        "rank 1, which nobody has judged.\n\n> say <code>a&#60;b</code>"
    )


def test_every_block_of_the_template_is_shown_by_a_cell(small):
    page = (evalset.DEFAULT / "retrieval_eval.ipynb").read_text(encoding="utf-8")
    cells = "".join("".join(cell["source"]) for cell in json.loads(page)["cells"])
    blocks = made(small).template.blocks
    assert {name for name in blocks if f'section("{name}"' not in cells} == set()
    assert cells.count("section(") == len(blocks)
