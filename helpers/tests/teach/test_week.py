"""The page of the week and its picture: what was done is in both, the rest says so in a line."""

import base64
import json
import re

import numpy as np
import pytest
from conftest import published
from drawing import bars, texts, title
from PIL import Image

from helpers.measure import evalset, inert, results
from helpers.teach import eight_questions, practice, record, week


@pytest.fixture
def own(folder, memory, monkeypatch):
    """Return a learner's set, with the folder of the copies as the current one."""
    monkeypatch.chdir(folder)
    (folder / record.RECORD).touch()
    return evalset.load(folder)


def run(name, hits, dev, test):
    """Return a run of results.json with its verdicts on dev and on test, and its hits there."""
    means = {"hit@5": hits, "nDCG@10": 0.634}
    on_test = {"n": 354, "difference": 0.07, "low": 0.04, "high": 0.1, "means": means}
    halves = {"test": on_test, "test minus dev": {"verdict": test}}
    on_dev = {"hit@5": 152 / 168, "nDCG@10": 0.66}
    gain = {"nDCG@10": {"difference": 0.076}}
    told = {"primary": "nDCG@10", "measures": gain, "means": on_dev, "halves": halves}
    return {"name": name, "verdict": dev, **told}


def found(*runs):
    """Return results.json of which 135 of 168 dev, 277 of 354 test queries have a page in five."""
    dev = {"n": 168, "measures": {"hit@5": 135 / 168, "nDCG@10": 0.584}}
    test = {"n": 354, "measures": {"hit@5": 277 / 354, "nDCG@10": 0.559}}
    for half in (dev, test):
        half["intervals"] = {"nDCG@10": [0.533, 0.635]}
    return {"summary": {"dev": dev, "test": test}, "compared_dev": {"runs": [*runs]}}


def words_of(page):
    """Return what a reader sees of the parts of a page, by heading."""
    main = (page.partition("<main>")[2]).partition("</main>")[0]
    parts = re.split(r"<h2>(.+?)</h2>", re.sub(r"<style>.*?</style>", "", main))
    plain = [" ".join(re.sub("<[^>]+>", " ", part).split()) for part in parts]
    return dict(zip(["top", *plain[1::2]], plain[::2], strict=True))


def has_blank_rim(path):
    """Return whether no word or bar is cut at the edge of a picture."""
    grey = np.asarray(Image.open(path).convert("L"))
    return (np.concatenate([grey[0], grey[-1], grey[:, 0], grey[:, -1]]) == 255).all()


CARD = {"q1": inert.Markup("<h4>card one</h4>"), "q2": inert.Markup("<h4>card two</h4>")}
CAUSES = {"q9": ("tie", "no card"), "q1": ..., "q2": ("missing word", "full", "I looked twice")}


@pytest.fixture
def done(own, drawn, memory, monkeypatch, capsys):
    """Do all of a week, and return the page of it."""
    monkeypatch.setattr(practice, "readings", lambda evals: [(0, 0), (1, 1), (2, 1), (2, 2)])
    ranges = {"c-ndcg": (False, "9"), "a-longer": (True, "1"), "a-equal": (False, "9")}
    rows = {n: {"said": [0, 2], "held": h, "truth": t} for n, (h, t) in ranges.items()}
    rows |= {"c-top": {"said": [0, 1]}, "c-kind": {"said": "x", "held": True, "truth": "x"}}
    (own.folder / "predictions.json").write_text(json.dumps(rows))
    right = [question.right for question in eight_questions.questions()]
    record.write_answers("before", "????????")
    record.write_answers("before", right[0] + "???????")
    record.write_answers("after", "".join(right[:5]) + "???")
    record.write_answers("after", "".join(right))  # after the right ones were told
    (own.folder / "notes.md").write_text("## q2\nIt's `full`, not filled.\n")
    memory["passed checks"] = {"causes"}
    (own.folder / "systems").mkdir(exist_ok=True)
    card = json.dumps({"system": "BERT", "in_short": "a small model"})
    (own.folder / "systems" / "dense.json").write_text(card)
    better = run("baseline + dense", 306 / 354, "better", "confirmed")
    others = run("lucky", 1, "better", "not confirmed"), run("even", 1, "too few", "confirmed")
    lower = run("lower", 1, "better", "confirmed")
    lower["measures"]["nDCG@10"]["difference"] = 0.02
    week.save_week(own, found(*others, lower, better), lambda: CAUSES, CARD, "a <b>filter</b>")
    return (own.folder / "your_week.html").read_text(encoding="utf-8")


def test_a_page_tells_a_week_of_which_all_was_done(own, done, capsys):
    assert capsys.readouterr().out == "your_week.png is written\nyour_week.html is written\n"
    parts = words_of(done)
    assert parts["top"].startswith(f"Your week A search over 2 documents ({own.name}), measured")
    search, labels, days, eight, failure, after = [*parts.values()][1:]
    assert "277 of 354 test questions. BM25 with a small model , chosen on dev" in search
    assert "has one for 306 ." in search and "that's 0.634 after 0.559. The" in search
    gain = "The difference in nDCG@10, +0.070 (95 % interval +0.040 to +0.100), confirms"
    assert search.endswith(f"{gain} what dev showed.")
    assert "lucky" not in done
    assert labels.startswith("Of 4 pairs") and "3 have the grade that" in labels
    assert ": 0.64 (no" in labels
    assert "Session A: 1 of 2 held. Session C: 0 of 1 held. 1 of your 3 ranges" in days
    assert "a search: 1 before the week, 5 after it." in eight
    asked = f"The question: {own.queries['q2'].query} . The cause: missing word ."
    assert failure.startswith(f"{asked} What shows it: full . Your note: It's full , not filled.")
    assert "<h3>card two</h3>" in done  # below a heading of the second level
    assert failure.endswith("card two") and "card one" not in done
    assert after.startswith("a &lt;b&gt;filter&lt;/b&gt; Whatever it is, you can now say")


def test_a_picture_counts_a_week_of_which_all_was_done(own, done, drawn):
    assert has_blank_rim(own.folder / "your_week.png")
    assert Image.open(own.folder / "your_week.png").width > 800  # sharp where it's posted
    picture = (own.folder / "your_week.png").read_bytes()
    alt, data = re.search('<img alt="([^"]+)" src="data:image/png;base64,([^"]+)"', done).groups()
    told = words_of(done)["top"]
    assert base64.b64decode(data) == picture and f"to post with the picture {alt}" in told
    ((ax, words),) = drawn
    assert words == alt and alt.endswith("eight questions, after the week 5 of 8.")
    finding = "A useful page in the first five for 306 of 354 questions; BM25 alone: 277"
    assert title(ax) == finding
    shares = [277 / 354, 306 / 354, 3 / 4, 1 / 3, 1 / 8, 5 / 8]
    assert [width for _, width in bars(ax)][1::2] == pytest.approx(shares)
    pale = [bar.get_facecolor() == ax.patches[1].get_facecolor() for bar in ax.patches[1::2]]
    assert pale == [True, False, False, False, True, False]  # how it was before, also in grey
    counts = [name for name, x, _ in texts(ax) if x == 1]
    assert counts == ["277 of 354", "306 of 354", "3 of 4", "1 of 3", "1 of 8", "5 of 8"]


NOT_DONE = (
    "No other run is shown to be better",
    "No labels yet. The twenty pairs are in part 2 of session A.",
    "No range of yours has met its truth.",
    "a search: not tried before the week, not tried after it.",
    "None yet. Part 5 of session C",
    "Not said yet.",
)


def test_what_was_not_done_says_so_in_a_line(own, drawn):
    def never():
        raise NotImplementedError("not started yet")  # the check hasn't passed: it isn't called

    dev_alone = found(run("x", 1, "better", "contradicted"))
    del dev_alone["summary"]["test"]
    week.save_week(own, dev_alone, never, CARD, "")
    parts = words_of((own.folder / "your_week.html").read_text(encoding="utf-8"))
    for told, wanted in zip([*parts.values()][1:], NOT_DONE, strict=True):
        assert wanted in told
    ((ax, words),) = drawn
    assert has_blank_rim(own.folder / "your_week.png")
    finding = "A useful page in the first five for 135 of 168 questions"
    assert title(ax) == finding and words.startswith(f"{finding}. BM25 alone")
    assert len(bars(ax)) == 2


@pytest.mark.parametrize(("name", "told"), [
    ("dense", "dense"), ("baseline + dense", "BM25 with dense"),
])  # fmt: skip
def test_a_run_without_a_card_keeps_its_name(own, drawn, name, told):
    better = found(run(name, 306 / 354, "better", "confirmed"))
    week.save_week(own, better, dict, CARD, "")
    assert f"BM25 alone 277 of 354; {told} 306 of 354" in drawn[0][1]


def test_nothing_is_written_where_no_learner_works(own, drawn, capsys):
    (own.folder / record.RECORD).unlink()
    before = {*own.folder.rglob("*")}
    week.save_week(own, found(), lambda: CAUSES, CARD, "x")
    assert capsys.readouterr().out == "your copy writes your_week.html and your_week.png here\n"
    assert {*own.folder.rglob("*")} == before and not drawn


def test_the_published_results_have_a_run_that_the_page_tells():
    """Its names are those of results.json."""
    assert (
        results.confirmed(published()["compared_dev"])[0]["name"]
        == "baseline + dense-minilm-titled"
    )
