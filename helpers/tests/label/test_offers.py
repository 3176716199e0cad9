"""Another judge's grades are offers: a tenth is judged without, and the set says what was taken."""

import html

import pytest
from conftest import write_rows
from judging import PROOF, do, live, logged, opened
from labelled_sets import rows
from test_merge import unlabelled
from test_panel import message

from helpers.label import labelling, offers, panel
from helpers.label.labelling import Turn
from helpers.measure import evalset

ROW = {"query_id": "q1", "doc_id": "disk-full"}
PAIR, OTHER = ("q1", "disk-full"), ("q1", "queue-full")


def offer(pair, relevance, **more):
    names = {"query_id": pair[0], "doc_id": pair[1], "relevance": relevance}
    return names | {"model": "m-1", "prompt_sha256": "0" * 64, **more}


def offering(folder, monkeypatch, *lines, blind=()):
    """Return a panel of q1 with offers, of which the pairs in `blind` are drawn."""
    unlabelled(folder)
    write_rows(folder / offers.JUDGE, *lines)
    monkeypatch.setattr(labelling, "is_drawn", {*blind}.__contains__)
    return opened(folder, [PAIR, OTHER], order="find")


def heading(shown):
    return html.unescape(shown.query.value)


def go_to(shown, pair):
    if shown.turn.pair != pair:
        shown.buttons["Skip"].click()


def test_a_tenth_is_drawn_by_seed():
    drawn = [labelling.is_drawn((f"q{n}", "d")) for n in range(2000)]
    assert 160 < sum(drawn) < 240
    assert drawn[:99] == [labelling.is_drawn((f"q{n}", "d")) for n in range(99)]


def test_an_offer_is_accepted_changed_or_left_out(folder, monkeypatch):
    lines = offer(PAIR, 0, model="m-0"), offer(PAIR, 2, evidence="logs. Then"), offer(OTHER, 0)
    shown = offering(folder, monkeypatch, *lines)
    go_to(shown, PAIR)
    assert "m-1 offers grade 2 <q>logs. Then</q>" in heading(shown)
    assert {"Accept", "Blind"} <= live(shown)
    assert shown.buttons["Accept"].description == "Accept: grade 2"
    shown.key.value = "b"
    assert "offers" not in heading(shown) and "Accept" not in live(shown)
    assert shown.turn.pair == PAIR
    shown.key.value = "b"
    shown.key.value = "a"
    given = logged(folder)[-1]
    assert (given["evidence"], given["offered"]) == ("logs.\n\nThen", "m-1")
    assert "m-1 offers grade 0 </p>" in heading(shown)
    assert shown.buttons["Accept"].description == "Accept: grade 0"
    shown.evidence.value = PROOF["queue-full"]
    shown.buttons["1"].click()
    given = logged(folder)[-1]
    assert "offered" not in given and given["offered_grade"] == 0
    told = offers.offers_page(evalset.load(folder))
    assert told.startswith("offers shown: 2; 1 accepted, 1 changed to another grade\n")
    shown.buttons["Undo"].click()
    shown.key.value = "a"
    assert logged(folder)[-1]["relevance"] == 0
    shown.buttons["Finish"].click()
    told = "offers judged blind: none yet, so what the offers are worth is unknown"
    assert f"{told}<br>relevant of the accepted offers: 1 of 2, 50% (95" in message(shown)
    assert [row["offered"] for row in rows(folder / "judgments.jsonl")[-2:]] == ["m-1"] * 2
    assert evalset.load(folder).offered == dict.fromkeys((PAIR, OTHER), "m-1")


def test_no_offer_stands_where_it_may_not(folder, monkeypatch):
    shown = offering(folder, monkeypatch, offer(PAIR, 0), offer(OTHER, 0), blind=[PAIR])
    for pair, is_offered in ((PAIR, False), (OTHER, True)):
        go_to(shown, pair)
        assert ("offers" in heading(shown)) == is_offered == ("Accept" in live(shown))
    for lines in ((offer(PAIR, 2, evidence="nowhere"),), (offer(PAIR, 1),)):  # proves nothing
        shown = offering(folder, monkeypatch, *lines)
        go_to(shown, PAIR)
        assert "m-1 offers" in heading(shown) and "Accept" not in live(shown)
    shown = offering(folder, monkeypatch, offer(("q2", "queue-full"), 0))  # labelled
    assert not {"Accept", "Blind"} & live(shown)
    write_rows(folder / "skipped.jsonl", ROW | {"drawn": True})  # and to be read blind
    shown = offering(folder, monkeypatch, offer(PAIR, 0))
    shown.key.value = "0"
    assert shown.turn.pair == PAIR and "offers" not in heading(shown)


def test_finish_tells_agreement_on_the_blind_tenth_and_what_offers_changed(folder, monkeypatch):
    shown = offering(folder, monkeypatch, offer(PAIR, 1), offer(OTHER, 0), blind=[PAIR])
    go_to(shown, OTHER)
    shown.key.value = "a"
    shown.evidence.value = PROOF["disk-full"]
    shown.buttons["2"].click()
    told = offers.offers_page(evalset.load(folder))
    shown, blind, accepted = told.split("\n")
    assert shown == "offers shown: 1; 1 accepted, 0 changed to another grade"
    assert blind.startswith("offers judged blind: n = 1, 0% equal, weighted kappa (linear) 0.00; ")
    assert "relevant of these: 1 of 1, 100% (95 % interval 21% to 100%)" in told
    assert accepted.endswith("accepted offers: 0 of 1, 0% (95 % interval 0% to 79%)")


def test_what_somebody_gave_without_the_offer_is_no_offered_label(folder):
    unlabelled(folder)
    for second, offered in ({"offered": "m"}, {PAIR}), ({}, set()):
        write_rows(folder / "labelling.ana.jsonl", ROW | {"relevance": 0, "offered": "m"})
        write_rows(folder / "labelling.ben.jsonl", ROW | {"relevance": 0} | second)
        (folder / "judgments.jsonl").unlink(missing_ok=True)
        labelling.merge(evalset.load(folder))
        assert evalset.load(folder).offered.keys() == offered


def test_the_same_grade_by_hand_is_no_accepted_offer_and_no_change(folder, monkeypatch):
    shown = offering(folder, monkeypatch, offer(PAIR, 2, evidence="nowhere"), offer(OTHER, 0))
    while shown.turn:
        do(shown, 2 if shown.turn.pair == PAIR else 1)
    assert offers.offers_page(evalset.load(folder)) == (
        "offers shown: 2; 0 accepted, 1 changed to another grade, 1 given the same grade by hand\n"
        "offers judged blind: none yet, so what the offers are worth is unknown"
    )


@pytest.fixture
def zeros(tmp_path, monkeypatch):
    """Return a panel whose ten pages have an offer of 0, the third of the blind tenth."""
    bodies = ["Nothing.\n\nThe fact 0.", *(f"The fact {n}." for n in range(1, 10)), "Other."]
    doc_ids = [f"d{n}" for n in range(11)]
    rows = [
        {"doc_id": d, "title": f"T {d}", "text": b} for d, b in zip(doc_ids, bodies, strict=True)
    ]
    write_rows(tmp_path / "corpus.jsonl", *rows)
    query = {"query_id": "q", "query": "fact", "relevant_doc_ids": []}
    write_rows(tmp_path / "retrieval_queries.jsonl", query)
    write_rows(tmp_path / offers.JUDGE, *(offer(("q", d), int(d == "d10")) for d in doc_ids))
    monkeypatch.setattr(labelling, "is_drawn", {("q", "d2")}.__contains__)
    turns = [Turn("q", d) for d in doc_ids]
    monkeypatch.setattr(panel, "find_turns", lambda *_: turns)
    return opened(tmp_path, [turn.pair for turn in turns], order="find")


def test_zeros_are_confirmed_in_batches_of_five_with_their_best_passages(zeros):
    shown, folder = zeros, zeros.evals.folder
    page = html.unescape(shown.document.value)
    assert "m-1 offers grade 0 </p>" in heading(shown)
    assert "<b>T d0</b></p><blockquote>The <mark>fact</mark> 0.</blockquote>" in page
    assert "T d1" in page and "T d2" not in page and "Nothing" not in page
    assert live(shown) == {"Accept", "One by one", "Blind", "Finish"}
    shown.key.value = "0"
    assert "0 does nothing now" in message(shown)
    shown.key.value = "a"
    assert message(shown) == "Saved: 0 for 2 pages."
    names = ("doc_id", "relevance", "offered")
    accepted = [tuple(row[name] for name in names) for row in logged(folder)]
    assert accepted == [("d0", 0, "m-1"), ("d1", 0, "m-1")]
    assert shown.turn.doc_id == "d2" and "offers" not in heading(shown)
    do(shown, 0)
    assert "offered" not in logged(folder)[-1]
    assert shown.buttons["Accept"].description == "Accept: grade 0 for all 5"
    shown.key.value = "a"
    assert [row["doc_id"] for row in logged(folder)[3:]] == ["d3", "d4", "d5", "d6", "d7"]
    assert "5 zeros in a row: Next query (q) leaves 3 documents unread" in message(shown)
    assert {"Next query", "Accept", "One by one"} <= live(shown)
    shown.buttons["Undo"].click()  # one after the other, and alone
    assert message(shown).startswith("Taken back.") and shown.turn.doc_id == "d7"
    assert "One by one" not in live(shown) and "0" in live(shown)
    do(shown, 1)
    assert "T d8" in shown.document.value and "T d9" in shown.document.value
    assert "offers shown: 7; 6 accepted, 1 changed" in offers.offers_page(evalset.load(folder))


def test_zeros_may_be_opened_one_by_one_or_judged_without_their_offers(zeros):
    shown = zeros
    shown.key.value = "b"
    assert live(shown) >= {"0", "1", "Skip", "Blind"} and "offers" not in heading(shown)
    shown.key.value = "b"
    shown.buttons["One by one"].click()
    for doc_id in ("d0", "d1"):
        assert shown.turn.doc_id == doc_id and "m-1 offers grade 0" in heading(shown)
        assert {"Accept", "1"} <= live(shown) and "One by one" not in live(shown)
        shown.key.value = "a"
    do(shown, 0)
    shown.key.value = "e"
    do(shown, 1)
    assert logged(shown.evals.folder)[-1]["offered_grade"] == 0 and shown.turn.doc_id == "d4"
