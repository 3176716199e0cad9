"""Another judge's grades are offers: a tenth is judged without, and the set says what was taken."""

import html

from conftest import write_rows
from judging import PROOF, live, logged, opened
from labelled_sets import rows
from test_merge import unlabelled
from test_panel import message

from helpers.label import labelling, offers
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
    monkeypatch.setattr(offers, "is_blind", {*blind}.__contains__)
    return opened(folder, [PAIR, OTHER], order="find")


def heading(shown):
    return html.unescape(shown.query.value)


def go_to(shown, pair):
    if shown.turn.pair != pair:
        shown.buttons["Skip"].click()


def test_a_tenth_is_drawn_by_seed():
    drawn = [offers.is_blind((f"q{n}", "d")) for n in range(2000)]
    assert 160 < sum(drawn) < 240
    assert drawn[:99] == [offers.is_blind((f"q{n}", "d")) for n in range(99)]


def test_an_offer_is_accepted_changed_or_left_out(folder, monkeypatch):
    lines = offer(PAIR, 0, model="m-0"), offer(PAIR, 2, evidence="logs. Then"), offer(OTHER, 0)
    shown = offering(folder, monkeypatch, *lines)
    go_to(shown, PAIR)
    assert "m-1 offers grade 2: <q>logs. Then</q>" in heading(shown)
    assert "<u>" in shown.document.value and {"Accept", "Blind"} <= live(shown)
    assert shown.buttons["Accept"].description == "Accept: grade 2 with the marked passage"
    shown.key.value = "b"
    assert "offers" not in heading(shown) and "Accept" not in live(shown)
    assert shown.turn.pair == PAIR
    shown.key.value = "b"
    shown.key.value = "a"
    given = logged(folder)[-1]
    assert (given["evidence"], given["offered"]) == ("logs.\n\nThen", "m-1")
    assert "m-1 offers grade 0</p>" in heading(shown)
    assert shown.buttons["Accept"].description == "Accept: grade 0"
    shown.evidence.value = PROOF["queue-full"]
    shown.buttons["1"].click()
    assert "offered" not in logged(folder)[-1]
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
    assert not {"Accept", "Blind"} & {*shown.buttons}
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
    assert told.startswith("offers judged blind: n = 1, 0% equal, weighted kappa (linear) 0.00; ")
    assert "relevant of these: 1 of 1, 100% (95 % interval 21% to 100%)" in told
    assert told.endswith("accepted offers: 0 of 1, 0% (95 % interval 0% to 79%)")


def test_what_somebody_gave_without_the_offer_is_no_offered_label(folder):
    unlabelled(folder)
    for second, offered in ({"offered": "m"}, {PAIR}), ({}, set()):
        write_rows(folder / "labelling.ana.jsonl", ROW | {"relevance": 0, "offered": "m"})
        write_rows(folder / "labelling.ben.jsonl", ROW | {"relevance": 0} | second)
        (folder / "judgments.jsonl").unlink(missing_ok=True)
        labelling.merge(evalset.load(folder))
        assert evalset.load(folder).offered.keys() == offered
