"""The write-up: what it decides and says, and what it leaves out where a set doesn't show it.

That our own set's sentences read as they should is nbval's.
"""

import html
import json

import pytest
from conftest import published, write_rows

from helpers.measure import baseline, compare, evalset, files, results, runs, stats
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
    rows = []
    for kind, found, of, *full in parts:
        for n in range(of):
            measures = {"hit@5": n < found, "nDCG@10": 1}
            if full and n % 3:
                measures["full hit@5"] = float(n < full[0])
            row = {"query_id": f"{kind}{n}", "query": "a", "kind": kind, "split": half}
            row |= {"relevant": {}, "retrieved": [], "first_rank": None, "measures": measures}
            rows.append(row)
    return rows


def made(small, *parts, others=(), cards=(), half="test", **more):
    """Return the write-up of our results with other queries, runs and failures."""
    whole = published()
    compared = whole["compared_dev"] | {"runs": [*others], "n": 30, "matters": 0.05}
    summary = {name: whole["summary"][name] for name in dict.fromkeys(("dev", half))}
    rows = queries(*(parts or [("a", 1, 1)]), half=half)
    changes = {"per_query": rows, "compared_dev": compared, "summary": summary, "cards": [*cards]}
    return WriteUp(whole | changes | more, small)


def said(page, section, **more):
    return str(page.section(section, **more).data)


# Sentences, and what they take for granted.


@pytest.fixture(scope="module")
def ours():
    return evalset.load(evalset.DEFAULT)


@pytest.fixture(scope="module")
def values(ours):
    """Return what our set tells: made anew for each test, it would take seconds."""
    return WriteUp(whole(), ours).values


def whole():
    return json.loads((evalset.DEFAULT / "results.json").read_text(encoding="utf-8"))


def named(content, name):
    """Return the run of a comparison with this name."""
    return next(run for run in content["compared_dev"]["runs"] if run["name"] == name)


def no_full_answers(content):
    for row in content["per_query"]:
        row["measures"].pop("full hit@5", None)


BEST = "baseline + dense-minilm-titled"
ADVICE = "next", "It's *baseline + dense-minilm-titled* in the tables"
KINDS = "next", "from +0.237 (*mismatch*, 27 questions) to -0.093 (*entity*, 19), which so few"
PROOF = "numbers", "the sentences that prove a document useful"
UNLIKE = {  # what a set doesn't show, and the words of a section that it then leaves out
    "no test half": (lambda content: content["summary"].pop("test"), "ranks", "The halves differ"),
    "no full answers": (no_full_answers, "numbers", "that have a full answer"),
    "nothing else was measured": (
        lambda content: content["compared_dev"].update(runs=[]),
        *ADVICE,
    ),
    "none is worse": (
        lambda content: named(content, "paragraph").update(verdict=stats.SAME),
        "next",
        "Don't switch",
    ),
    "a run without a card": (
        lambda content: named(content, BEST).update(name="baseline + x"),
        *ADVICE,
    ),
    "a run that isn't merged": (
        lambda content: named(content, BEST).update(name="dense-minilm"),
        *ADVICE,
    ),
    "not seen on test": (lambda content: named(content, BEST).pop("halves"), *ADVICE),
    "none apart": (lambda content: named(content, BEST)["halves"].pop(compare.APART), *ADVICE),
    "too small to matter": (
        lambda content: named(content, BEST).update(bounds=[0.01, 0.05]),
        *ADVICE,
    ),
    "not confirmed": (
        lambda content: named(content, BEST)["halves"]["test minus dev"].update(
            verdict=stats.NOT_CONFIRMED
        ),
        *ADVICE,
    ),
    "an undecided gain": (
        lambda content: named(content, BEST).update(verdict=stats.TOO_FEW),
        *ADVICE,
    ),
    "none of the newest round": (
        lambda content: named(content, BEST)["halves"].pop("test, newest round"),
        "next",
        "on the 77 of the newest round",
    ),
    "gains by kind weren't counted": (lambda content: named(content, BEST).pop("by_kind"), *KINDS),
    "one kind": (
        lambda content: named(content, BEST).update(
            by_kind={"alert": named(content, BEST)["by_kind"]["alert"]}
        ),
        *KINDS,
    ),
    "enough questions": (
        lambda content: content["compared_dev"].update(matters=0.5),
        "next",
        "To know more",
    ),
    "no words are lacking": (
        lambda content: [card.update(cause="tie") for card in content["cards"]],
        "next",
        "Add missing words",
    ),
    "no evidence": (lambda content: content.update(evidence={}), *PROOF),
    "none on test": (lambda content: content["evidence"].pop("test"), *PROOF),
    "one quote is enough": (
        lambda content: content["evidence"]["dev"]["by_k"].pop("any quote"),
        "evidence",
        "*Any quote* means",
    ),
    "other chunks": (
        lambda content: content.update(evidence={}),
        "chunks",
        "Each set of chunks was held",
    ),
    "better chunks": (
        lambda content: content["evidence"]["dev"]["sets"]["recursive"]["against"].update(
            verdict=stats.BETTER
        ),
        "chunks",
        "keeps its chunks",
    ),
}


@pytest.mark.parametrize("unlike", UNLIKE)
def test_sentences_that_a_set_does_not_show_are_left_out(ours, values, unlike):
    change, section, words = UNLIKE[unlike]
    content = whole()
    change(content)
    page = WriteUp(content, ours)
    page.values = values | content | page.claims | page.chunk_claims() | page.need_claims()
    page.values["half"] = page.half
    for name in page.template.blocks.keys() - {"card"}:
        assert (words in said(page, name)) is False, name
    whole_page = WriteUp(whole(), ours)
    whole_page.values = values
    assert words in said(whole_page, section)


def halves_of(content, **verdict):
    """Let the best run be one that test doesn't confirm."""
    named(content, BEST)["halves"]["test minus dev"].update(verdict)


def only_one_better(content, **changes):
    """Let one run alone be better, with changes."""
    runs_ = content["compared_dev"]["runs"]
    for run in runs_:
        run["verdict"] = stats.TOO_FEW
    named(content, BEST).update(changes, verdict=stats.BETTER)


def without_test(content):
    only_one_better(content)
    named(content, BEST).pop("halves")
    content["summary"].pop("test")


CHOSEN = "BM25 merged with *dense-minilm-titled* ranks better on the dev questions.**"
INSTEAD = {  # what a set shows instead, and what is said of it
    "contradicted": (
        lambda content: [only_one_better(content), halves_of(content, verdict="contradicted")],
        f"{CHOSEN} On test that's contradicted.",
    ),
    "not chosen": (
        lambda content: [only_one_better(content), named(content, BEST).pop("halves")],
        f"{CHOSEN} Confirm it on test, once.",
    ),
    "no test": (without_test, f"{CHOSEN} Confirm it on questions that had no part in"),
    "an unconfirmed run gains more": (
        lambda content: named(content, "baseline + dense-minilm")["measures"]["nDCG@10"].update(
            difference=0.2
        ),
        "It's *baseline + dense-minilm-titled* in the tables",
    ),
}


@pytest.mark.parametrize("name", INSTEAD)
def test_what_is_known_of_test_is_said_instead(ours, values, name):
    content = whole()
    change, told = INSTEAD[name]
    change(content)
    page = WriteUp(content, ours)
    page.values = values | content | page.claims | {"half": page.half}
    assert told in " ".join(said(page, "next").split())


def test_every_section_of_a_small_set_has_sentences(folder):
    """Its test half has no full answer, and no run but the baseline's."""
    evals = evalset.load(folder)
    baseline.baseline_command(evals)
    page = WriteUp(results.read_results(folder), evals)
    shown = {name: said(page, name) for name in page.template.blocks.keys() - {"card"}}
    assert "full answer" not in shown["verdict"] + shown["numbers"]
    assert "No other run is shown to rank better" in shown["next"]
    assert not any("nan" in told or "Undefined" in told for told in shown.values())


def every_question(content, useful, kind=None):
    """Let every question, or those of a kind, have a useful page in five, or none."""
    for row in content["per_query"]:
        if kind in (None, row["kind"]):
            row["measures"]["hit@5"] = useful


TRY = " Merging it with a small embedding model "
RAISES = f"{TRY}raises the 78% to 86%, and gains "
LEADS = {  # what changes, and what the lead then says or doesn't
    "a fusion that dev and test hold": (
        lambda content: None,
        f"{RAISES}0.07 nDCG@10 or more on both",
    ),
    "the smaller gain": (
        lambda content: named(content, BEST)["halves"]["test"].update(difference=0.0599),
        f"{RAISES}0.05 nDCG@10 or more on both halves: try that first.**",
    ),
    "test doesn't confirm it": (UNLIKE["not confirmed"][0], "everyday words.**"),
    "nothing is better": (UNLIKE["nothing else was measured"][0], "everyday words.**"),
    "another kind fails": (
        lambda content: every_question(content, 0.0, "alert"),
        "It fails on *mismatch* and *alert* questions.",
    ),
    "fewer useful pages": (
        lambda content: named(content, BEST)["halves"]["test"]["means"].update({"hit@5": 0.7}),
        f"{TRY}gains 0.07 nDCG@10",
    ),
    "no kind fails": (lambda content: every_question(content, 1.0), f"answer for 63%.{TRY}gains "),
    "no full answers": (no_full_answers, "five for 78% of questions. It fails when"),
}


@pytest.mark.parametrize("name", LEADS)
def test_the_lead_says_only_what_is_so(ours, name):
    content = whole()
    change, told = LEADS[name]
    change(content)
    page = WriteUp(content, ours)
    page.values = page.claims  # that's all it needs
    lead = said(page, "verdict")
    assert lead.startswith("**BM25 puts a useful page in the first five for ")
    assert lead.endswith("**") and " **" not in lead and told in lead
    assert len(lead.split()) <= 50


def test_a_set_that_waits_for_labels_or_has_one_round_says_so(ours, values):
    page = WriteUp(whole(), ours)
    earlier = "the data card says which test questions were on the dev half"
    for changes, told in (
        ({}, earlier),
        ({"left_out": "2 queries left out: 2 wait for a label"}, "means. 2 queries left out"),
    ):
        page.values = values | changes
        assert told in said(page, "corpus")
    page.values = values | {"marked": values["marked"].iloc[:0], "kinds": 0, "services": 0}
    assert "dev half only." in said(page, "corpus") and " documents, " in said(page, "corpus")
    assert "Some queries are shown apart" not in said(page, "ranks")


# Tables.


def run(name, verdict, difference=0.1, detectable=0.2):
    row = dict.fromkeys(stats.Paired._fields, 0.1)
    row |= {"difference": difference, "detectable": detectable, "n": 30}
    made = {"name": name, "primary": "nDCG@10", "measures": {"nDCG@10": row}, "p_holm": 0.5}
    return made | {"verdict": verdict, "judged@10": 1.0}


def test_shares_stand_at_the_bar_with_their_intervals(small):
    for low, high, side in (
        (ENOUGH, 1, "open"),
        (0, ENOUGH, "open"),
        (ENOUGH + 0.01, 1, "good"),
        (0, ENOUGH - 0.01, "poor"),
    ):
        assert Share("a", 1, 2, low, high).side == side
    page = made(small, ("a", 1, 9, 0), ("b", 8, 9, 9), ("c", 8, 9))
    assert [share.name for share in page.shares()] == ["all questions", "b", "c", "a"]
    full = page.shares(write_up.FULL)
    assert [share.name for share in full] == ["all questions", "b", "a", "c"]
    assert full[1][1:3] == (6, 9)  # of all questions
    assert [share.side for share in full][2:] == ["poor", "poor"]
    share = made(small, ("a", 9, 10)).shares()[0]
    assert (round(share.low, 3), round(share.high, 3)) == (0.596, 0.982)  # Wilson's of 9 of 10
    assert [share.name for share in made(small).shares()] == ["all questions"]
    assert made(small).shares(write_up.FULL) == []


def test_the_least_write_up_has_tables_of_what_there_is(small):
    evals = small._replace(unanswered={}, waiting={"q1": small.queries["q1"]})
    row = evidence_row("any_quote", "means")
    page = made(evals, half="dev", evidence={"dev": {"sets": {"fixed": row}}})
    assert page.quotes().to_dict("records") == [
        {"chunks": "fixed", "any quote, first five": 0.5, "what suffices, first five": 0.25,
         "any quote, 2,000 tokens": 0.5, "what suffices, 2,000 tokens": 0.25}
    ]  # fmt: skip
    page = made(evals, half="dev", evidence={})
    assert page.chunk_sets().empty and page.marked_queries().empty and page.quotes().empty
    assert [*page.means()] == [f"dev (n = {page.results['summary']['dev']['n']})"]
    assert page.values["left_out"] == "1 query left out: 1 waits for a label"
    few = made(evals, half="dev", queries={**page.results["queries"], "n": 59})
    assert said(few, "measured").startswith("59 answered queries, all dev. A test half pays")
    assert "confirm on others" in said(few, "repairs")
    assert "confirm once on test" in said(page, "repairs")
    for name in page.template.blocks.keys() - {"card"}:
        assert "|" not in said(page, name)  # no table is empty
    assert said(page, "chunks") == "No other set of chunks was compared with the baseline's."


def test_the_next_steps_name_the_runs_that_differ_and_the_price_of_more_labels(small):
    assert said(made(small), "next") == (
        "- No other run is shown to rank better on the dev questions."
    )
    cards = [
        {"cause": cause, "unjudged": cause == "tie"}
        for cause in ("no shared word", "missing word", "tie")
    ]
    others = [run("x", stats.BETTER), run("y", stats.BETTER), run("z", stats.WORSE)]
    others.append(run("open", stats.TOO_FEW))
    lines = said(made(small, others=others, cards=cards), "next").splitlines()
    needed = write_up.questions_needed(others[-1]["measures"]["nDCG@10"], 0.05)
    told = (
        "*x* ranks better on the dev questions.** Confirm it",
        "switch to *z*.**",
        "In 2 of 3 dev",
        f"takes {needed} questions",
    )
    assert all(words in line for words, line in zip(told, lines, strict=True))


def evidence_row(*names):
    recalls = {"any_quote": 0.5, "means": 0.25}
    measures = ("evidence hit@5", write_up.evidence.DECIDES)
    return {name: dict.fromkeys(measures, recalls[name]) for name in names}


def test_the_board_says_what_test_says_of_a_run_or_that_nothing_confirms_it(small):
    halves = {"test": {"difference": 0.05}, "test minus dev": {"verdict": stats.CONTRADICTED}}
    apart = {compare.APART: {"difference": 0.02, "n": 11}}
    for verdict, unseen in (
        (stats.BETTER, "not chosen"),
        (stats.WORSE, "not chosen"),
        (stats.SAME, ""),
        (stats.TOO_FEW, ""),
    ):
        one = run("x", verdict)
        for more, told in (
            ({}, unseen),
            ({"halves": halves}, "+0.050, contradicted"),
            ({"halves": halves | apart}, "+0.050, contradicted; apart +0.020 (n = 11)"),
        ):
            page = made(small, others=[one | more])
            assert [*page.leaderboard()["on test"]] == ["", told], (verdict, told)
    for more in ({}, {"halves": halves}, {"halves": halves | apart}):
        words = said(made(small, others=[run("x", stats.SAME) | more]), "compared")
        assert ("*Apart*" in words) == (more == {"halves": halves | apart})


def test_queries_in_another_language_and_of_the_newest_round_are_told_apart(small):
    page = made(small, ("a", 3, 3, 2), ("b", 0, 1))
    page.rows["test"] = page.rows["test"].assign(**{"nDCG@10": [1, 1, 1, 0.5]})
    more = {"a0": ("", 1), "a1": ("nl", 2), "a2": ("de", 2), "b0": ("", 2)}
    asked = {q: evalset.Query(q, "a", (), language=x, round=n) for q, (x, n) in more.items()}
    page.evals = small._replace(queries=small.queries | asked)
    assert [*page.marked_queries().itertuples(name=None)] == [
        ("test", "in another language", 2, 1.0, 0.5),
        ("test", "of round 2, the newest", 3, pytest.approx(2.5 / 3), pytest.approx(1 / 3)),
        ("test", "without round 2", 1, 1.0, 0.0),
    ]


# What the rules decide.


def test_what_shows_a_gain_that_matters_is_counted_by_the_widest_spread():
    row = run("x", stats.TOO_FEW)["measures"]["nDCG@10"]
    spread = row["detectable"] / stats.detectable(30, 1.0)
    needed = write_up.questions_needed(row, 0.1)
    assert stats.detectable(needed, spread) <= 0.1 < stats.detectable(needed - 1, spread)
    assert write_up.questions_needed(row, 0.3) == 30  # never fewer than there are
    undecided = [
        {"name": name, "gain": row | {"detectable": detectable}}
        for name, detectable in (("near", 0.04), ("wide", 0.2), ("equal", None))
    ]
    widest = {"name": "wide", "n": 30, "needed": needed, "more": round(needed - 30 + 4.5, -1)}
    assert write_up._widest(undecided, 0.1) == widest
    assert write_up._widest(undecided[2:], 0.1) == {}


def test_a_reranker_sees_a_small_share_of_the_corpus(small):
    document = small.documents["disk-full"]
    for n, depth in ((2, 2), (219, 10), (220, 11), (441, 22), (2000, 100)):
        documents = {**small.documents, **{str(i): document for i in range(n - 2)}}
        page = made(small._replace(documents=documents))
        assert page.values["depth"] == depth, n
    for documents, is_small in ((9_999, True), (10_000, False)):
        told = said(page, "limits", corpus={"documents": documents})
        assert told.startswith(f"- {documents:,} documents are a small corpus.") == is_small


def test_imperfect_queries_wait_for_a_repair(small):
    page = made(small, ("q", 0, 3), half="dev")
    rows = page.rows["dev"]
    rows["nDCG@10"] = [1, 0.5, 0.5]
    rows["relevant"] = [{"disk-full": 1}, {"disk-full": 1}, {"queue-full": 1, "disk-full": 1}]
    assert (page.values["reorder"], page.values["fetch"]) == (["q1"], ["q2"])
    told = said(page, "repairs")
    assert told.startswith("2 of 3 dev queries score below 1 in nDCG@10.")
    assert "can help 1 query: every" in told and "is needed for 1 query: a" in told


# What the folder of a set says.


def test_sections_say_what_is_missing_where_it_is(small):
    page = made(small, half="dev")
    for section, words in {
        "failures": "No dev query has a misplaced document.",
        "nothing_shared": "No document shares a word with *a0*, so there's no card.",
        "about": "No data card says how this set was made.",
        "agreement": "No second reading yet.",
        "sources": ": [retrieval_queries.jsonl](retrieval_queries.jsonl), [judgments.jsonl](",
    }.items():
        assert words in said(page, section)
    bar = said(page, "bar")
    assert bar.startswith("**The bar.** A page is useful") and "answer" not in bar
    (small.folder / "README.md").write_text("- **Kinds.** `a`: one. `b`: <two>.\n- **More.** x\n")
    told = "**Kinds of question.** <code>a</code>: one. <code>b</code>: <two>.\n\n**The bar.** A"
    assert html.unescape(said(made(small), "bar")).startswith(told)


def test_the_bar_names_the_kind_with_the_fewest_full_answers(small):
    page = made(small, ("a", 3, 4), ("b", 1, 2))
    page.rows["test"][write_up.FULL] = [1.0, 0.0, 1.0, None, 0.0, None]
    assert page._hardest() == {"name": "b", "mean": 0.5}
    page.rows["test"][write_up.FULL] = [1.0, 0.0, 1.0, 0.0, 0.0, 1.0]
    assert page._hardest() == {}
    page.rows["test"][write_up.FULL] = None
    assert page._hardest() == {}
    page = made(small, ("a", 3, 4))
    page.rows["test"][write_up.FULL] = [1.0, None, 1.0, 0.0]
    assert page._hardest() == {}  # the share of the one kind is that of all


def test_a_low_first_score_hints_only_where_its_interval_is_beyond_chance(small):
    page, row = made(small), {"AUROC": 0.7, "high": 0.9, "unanswerable": 9}
    for low, told in ((0.51, "hints at them"), (0.5, "isn't shown to give them away")):
        words = said(page, "apart", told_apart={"test": row | {"low": low}})
        assert f"A low score at rank 1 {told} on test. Take one query" in words
    words = said(page, "apart", told_apart={"test": None, "dev": row | {"low": 0.5}})
    assert words.startswith("**Queries without an answer.** Take one query")


def test_cards_say_what_the_systems_are(small):
    files.write(small.folder / "systems" / "b.json", '{"system": "of 2021", "windows": "ten"}')
    files.write(small.folder / "systems" / "a.json", '{"packages": {}}')
    files.write(small.folder / "systems" / "c.json", '{"system": "<b>"}')
    told = "merged into one.\n\n- *b*: of 2021. Windows: ten.\n- *c*: &#60;b&#62;."
    assert said(made(small), "compared").replace(PLACE, "").endswith(told)
    sets = {"dev": {"sets": {"z": {}}}}
    names = made(small, evidence=sets).in_words(["z", "baseline + b", "b"])
    assert names == "*z* chunks, BM25 merged with *b* and *b*"


PLACE = (
    " *On test* tells of runs that were chosen on dev and named with the day (settings.json, "
    "confirmed)."
)


def test_each_second_reading_is_told_and_no_row_of_the_pool(small):
    pair = {"query_id": "q1", "doc_id": "disk-full", "first": 2}
    write_rows(small.folder / "pool.jsonl", pair | {"rankers": ["a"]})
    again = pair | {"second": 2, "final": 2, "reason": ""}
    write_rows(small.folder / "second_pass.jsonl", again | {"round": 1}, again | {"round": 2})
    words = "1 pair, 100.0% equal, Cohen's kappa undefined (one grade only); equal by first grade"
    lines = said(made(small), "agreement").split("  \n")
    assert lines == [f"Second pass, round {n}: {words} 2: 100%." for n in (1, 2)]


def test_a_card_tells_where_both_documents_stand_and_what_was_read(small):
    (small.folder / "notes.md").write_text("## a0\nsay `a<b`\n")
    failure = {"query_id": "a0", "wanted": "disk-full", "rival": "queue-full", "cause": "tie"}
    failure |= {"unjudged": True, "lacks": ["x", "y"]}
    rival = {"queue-full": small.documents["queue-full"]._replace(title="Full <b>")}
    small = small._replace(documents=small.documents | rival)
    page = made(small, cards=[failure], half="dev")
    page.rows["dev"].at["a0", "retrieved"] = [["queue-full", 2.0]]
    assert said(page, "card", **page.cards()[0]) == (
        "#### a0: a\n\n**Tie** (a, nDCG@10 1.000). Wanted: “disk-full” (<code>disk-full</code>), "
        "after rank 10. Words it lacks: x, y. Rival: “Full &#60;b&#62;” (<code>queue-full</code>), "
        "rank 1, which nobody has judged.\n\n> Our reading: say <code>a&#60;b</code>"
    )


def test_every_block_of_the_template_is_shown_by_a_cell(small):
    page = (evalset.DEFAULT / "retrieval_eval.ipynb").read_text(encoding="utf-8")
    cells = "".join("".join(cell["source"]) for cell in json.loads(page)["cells"])
    blocks = made(small).template.blocks
    assert {name for name in blocks if f'section("{name}"' not in cells} == set()
    assert cells.count("section(") == len(blocks)
