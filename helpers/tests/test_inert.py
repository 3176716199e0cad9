"""Texts of a set on a page, in a cell and on a terminal: shown as they are, and doing nothing.

That no cell is given Markdown or HTML past `helpers.measure.inert` is a rule of ruff (TID251).
"""

import html
import io
import json
import re
from html.parser import HTMLParser

import jinja2
import mistune
import pytest
from conftest import write_rows
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from helpers.label import panel
from helpers.measure import baseline, chunks, compare, evalset, inert, report, results, runs
from helpers.measure.pages import comparison_page
from helpers.teach import cards, checklist, data_card, figures, practice, week, write_up
from helpers.teach.pictures import ranking

RAW = """<script>x()</script> <img src=x onerror=x()> [a](javascript:x()) ![](http://x/y.png)
**b** _c_ a_b 'q' "r" [^1] {z} \t= === &lt; ~~d~~ `e` <http://x> www.x.org x@y.z
# head\n- item\n1. one\n> quote\n| a | b |\n|---|---|\n```\ncode\n``` https://x.org $x^2$ \\(y\\)
a\n===\n--- </style></title> \\href{javascript:x()}{y}"""
STARTS = ("1. a", "1) a", "- a", "+ a", "* a", "# a", "> a", "    a", "  - a", "===", "---", ": a")
OTHERS = ("", "2026", "a\tb", "Ünï 日本 🚀")


ROOT = evalset.DEFAULT.parent
RENDER = mistune.create_markdown(
    escape=False, plugins=["table", "url", "strikethrough", "footnotes", "math", "task_lists"]
)


def test_an_inert_text_is_shown_as_it_stands_by_html_and_markdown():
    for words in (RAW, *RAW.split("\n"), *STARTS, *OTHERS):
        shown = RENDER(str(inert.inert(words))) if words else "<p></p>\n"
        assert set(re.findall(r"</?(\w+)", shown)) <= {"p", "span"}, words
        for page in (shown.removeprefix("<p>").removesuffix("</p>\n"), inert.inert(words)):
            assert html.unescape(re.sub("</?span>", "", page)) == words


def test_text_in_markup_is_escaped_and_numbers_stay():
    shown = inert.Markup("{} {:.1f} {} {}").format(-1, 0.25, "-x", inert.Markup("<b>"))
    assert shown == "-1 0.2 &#45;x <b>" and inert.inert("\\") == "<span>&#92;</span>"


def test_the_name_of_a_measure_stands_as_it_is_and_nothing_else_does():
    for name in ("nDCG@10", "nDCG-exp@10", "full hit@5"):
        assert inert.measure_name(name) == name
    for name in ("<b>hit@5", "hit@5<b>", "hit@5.org", "_hit_@5", "`hit`@5", "hit@x"):
        assert inert.measure_name(name) == inert.inert(name) != name


def test_markdown_without_its_marks_shows_what_looks_like_html_as_text():
    page = "## Do `x`\n- [ ] see [a|b](c.md) **now** <b>x\n\n| a |\n|-|\n| 1 |"
    assert inert.without_markdown(page) == "Do x see a|b now <b>x a 1"


def test_what_acts_on_a_terminal_is_written_as_an_escape():
    acting = "\x1b[31m \x07 \r \x9b \u202e \u2066 \u200f \ud800 \ufeff \x7f"
    seen = r"\x1b[31m \x07 \r \x9b \u202e \u2066 \u200f \ud800 \ufeff \x7f"
    assert inert.visible(acting) == seen
    kept = "a\tb\nc é 日本 🏴\u200d☠️ नी"
    assert inert.visible(kept) == kept
    assert html.unescape(re.sub("</?span>", "", inert.inert(acting))) == seen


def test_a_screen_escapes_what_acts_and_what_it_cannot_encode():
    for encoding, shown in (("utf-8", "é ✓"), ("cp1252", "é \\u2713")):
        raw = io.BytesIO()
        screen = inert.Screen(io.TextIOWrapper(raw, encoding=encoding, newline="\n"))
        print("é ✓ \x1b[2J\udc80", file=screen, flush=True)
        assert raw.getvalue().decode(encoding) == shown + " \\x1b[2J\\udc80\n"
        assert screen.encoding == encoding and not screen.isatty()


def test_a_template_calls_safe_only_what_is_written_in_it():
    """A literal of it, or what a macro of it shows: whatever comes out of its braces is inert."""
    nodes, wrong = jinja2.nodes, []
    pages = [page for part in ("helpers", "notebooks") for page in (ROOT / part).rglob("*.jinja")]
    assert len(pages) >= 3
    for page in pages:
        tree = jinja2.Environment().parse(page.read_text(encoding="utf-8"))
        macros = {macro.name for macro in tree.find_all(nodes.Macro)}
        for called in tree.find_all(nodes.Filter):
            given = called.node
            while isinstance(given, nodes.Filter) and given.name == "trim":
                given = given.node
            is_macro = isinstance(given, nodes.Call) and getattr(given.node, "name", "") in macros
            if called.name == "safe" and not (isinstance(given, nodes.Const) or is_macro):
                wrong.append(f"{page}:{called.lineno}")
    assert wrong == []


# A set and results whose every text acts, wherever a cell or a page shows them. If one did act, its
# signs would be gone from what a reader sees.

ACTS = "<b>[a](javascript:ran())$x$**c**`d`"
BARE = ACTS.partition("**")[0]  # where backticks are code and a data card's stars are left out
KINDS = "alert entity keyword mismatch misspelling multi temporal head tail".split()
NAMES = [*KINDS, "fixed", "paragraph", "de", "earlier"]  # of parts that a set names
LOOKED_UP = {"split", "verdict"}  # texts that name other parts


def seen(page: str) -> str:
    """Return what a reader sees of a page."""
    parser, words = HTMLParser(), []
    parser.handle_data = words.append
    parser.feed(str(page))
    return "".join(words)


def acts(page: str, least: int = 1) -> bool:
    """Return whether a hostile text does anything in a page, or stands in it less than `least`."""
    shown = seen(page)
    is_whole = shown.count("ran()") == shown.count(BARE) >= least
    in_formula = shown.count("$x$*") != shown.count(ACTS) or re.search(r"\$(?!<)", page)
    return not is_whole or bool(in_formula)


def cleaned(page: str) -> str:
    """Return the body of a page without the attributes in which a text is only kept."""
    return re.sub(r' (alt|id|href|data-label)="[^"]*"', "", page.partition("<main>")[2])


@pytest.fixture
def hostile(tmp_path):
    """Return a set that can be read and measured, in which every text acts."""
    texts = {ACTS: f"queue {ACTS}", f"{ACTS}2": f"storage {ACTS}"}
    documents = [{"doc_id": d, "title": ACTS, "text": t} for d, t in texts.items()]
    whole = {"query": f"storage {ACTS}", "relevant_doc_ids": [ACTS], "answers": [ACTS]}
    ids = [f"{ACTS}{n}" for n in range(3)]
    halves = zip(ids, ("dev", "test", "dev"), strict=True)
    label = {"doc_id": ACTS, "relevance": 2, "evidence": [ACTS]}
    write_rows(tmp_path / "corpus.jsonl", *documents)
    write_rows(tmp_path / "retrieval_queries.jsonl",
               *({"query_id": q, "split": half, **whole} for q, half in halves))  # fmt: skip
    write_rows(tmp_path / "judgments.jsonl", *({"query_id": q, **label} for q in ids))
    (tmp_path / "README.md").write_text(f"# {ACTS}\n\n{BARE}\n\n- **Kinds.** {BARE}\n")
    (tmp_path / "notes.md").write_text(f"## q\n{BARE}\n")
    (tmp_path / "labeling_guide.md").write_text(f"# Guide\n\n{ACTS}\n")
    (tmp_path / "runs").mkdir()
    evals = evalset.load(tmp_path)
    rankings = {q: [(f"{ACTS}2", 2.0), (ACTS, 1.0)] for q in evals.queries}
    for name in ("fixed", ACTS, f"fixed{ACTS}"):
        runs.write_trec(tmp_path / "runs" / f"{name}.trec", rankings, ACTS[:3])
        runs.write_card(tmp_path / "runs" / f"{name}.json", evals, runs.BASELINE | {"chunks": 2})
    return evals


def with_acts(value, name=""):
    """Return a part of results.json with what acts in each text and each name of a set's."""
    if isinstance(value, dict):
        return {key + ACTS * (key in NAMES): with_acts(part, key) for key, part in value.items()}
    if isinstance(value, list):
        return [with_acts(part, name) for part in value]
    return value + ACTS if isinstance(value, str) and name not in LOOKED_UP else value


@pytest.fixture
def page(hostile):
    """Return the write-up of hostile results on the hostile set."""
    content = json.loads((evalset.DEFAULT / "results.json").read_text(encoding="utf-8"))
    content = with_acts(content)
    base, *systems = content["compared_dev"]["base"], *content["compared_dev"]["runs"]
    base["means"][base["primary"]] = 0.5
    for run in systems:
        run["measures"][run["primary"]] = run["measures"]["nDCG@10"]
    results.write_results(hostile.folder, content)
    assert results.read_results(hostile.folder)["method"] == content["method"]  # a fit of the form
    content["evidence"]["lost"] = dict.fromkeys(hostile.queries, "delivered")
    for n, card in enumerate(content["cards"][:3]):
        card |= {"query_id": f"{ACTS}{n}", "wanted": ACTS, "rival": f"{ACTS}2"}
    content["cards"] = content["cards"][:3]
    rows = zip(hostile.queries, content["per_query"][:3], strict=True)
    content["per_query"] += [row | {"query_id": q, "split": "dev"} for q, row in rows]
    return write_up.WriteUp(content, hostile)


def test_no_text_acts_in_the_write_up_and_its_page(page):
    sections = [page.section(name) for name in page.template.blocks if name != "card"]
    for card in page.cards():
        sections.append(page.section("card", **(card | {"note": figures.with_code(BARE)})))
    made = (page.queries, page.method, page.means, page.kinds, page.leaderboard,
            page.evidence_recall, page.losses, page.causes)  # fmt: skip
    tables = [figures.captioned_table(table(), ACTS).data for table in made]
    rendered = [RENDER(str(shown.data)) for shown in sections]
    assert sum("ran()" in shown for shown in rendered) >= 10
    assert [shown for shown in rendered if acts(shown, 0)] == []
    assert [table for table in tables if acts(table)] == []
    data = [{"text/markdown": str(shown.data)} for shown in sections]
    data += [{"text/html": str(table)} for table in tables]
    outputs = [new_output("display_data", shown) for shown in data]
    alt = {"image/png": {"alt": ACTS}}
    outputs.append(new_output("display_data", {"image/png": "iVBO"}, metadata=alt))
    cells = [new_markdown_cell("# Title"), new_code_cell("", outputs=outputs)]
    assert not acts(cleaned(report.html(new_notebook(cells=cells))), 40)


def test_no_text_acts_on_other_pages(hostile, monkeypatch):
    base = runs.read_run(hostile.folder / results.RUN, hostile)
    other = runs.read_run(hostile.folder / "runs" / f"{ACTS}.trec", hostile)
    compared = compare.compare(hostile, base._replace(name=ACTS), [other, base])
    saved = json.loads((evalset.DEFAULT / "results.json").read_text(encoding="utf-8"))
    pages = {
        "comparison": comparison_page(compared),
        "checklist": checklist.week_checklist(hostile, set()),
        "summary": report.summary(with_acts(saved)),
        "disclosure": data_card.disclosure(hostile),
    }
    for name, markdown in pages.items():
        assert not acts(RENDER(str(markdown))), name
    assert not acts(RENDER(str(data_card.counts_table(hostile))), 0)
    query = hostile.queries[f"{ACTS}0"]
    found = {d: (document.title, "") for d, document in hostile.documents.items()}
    assert not acts(ranking.result_card(query, found, {"storage", "queue", "c"}, [ACTS], 3), 5)
    body = ranking.result_card(evalset.Query("q", "q", ()), {"d": ("", ACTS)}, {"c"}, [], 3)
    assert "&#60;b&#62;a<span>" in body and "ran()" not in body  # of a link the words alone
    assert not acts(ranking.chunk_page(ACTS, [(0, len(ACTS))]))
    monkeypatch.setenv("EVALS", str(hostile.folder))
    page = baseline.ask("storage queue").data
    assert not acts(page, 2) and "&#60;b&#62;a<span>" in page  # titles whole, bodies without links
    assert not acts(figures.side_by_side({ACTS: inert.Markup("")}).data)


def test_no_text_acts_in_a_failure_card(hostile):
    units = [chunks.Chunk(d, 0, 0, 9, 1) for d in hostile.documents]
    bodies = [hostile.words(document.text) for document in hostile.documents.values()]
    weights, order = cards.Weights(units, bodies, set()), [f"{ACTS}2", ACTS]
    card = cards.failure_card(hostile, weights, f"{ACTS}0", order)
    before, _, texts = cards.card_html(card, hostile, order, 0.5).partition("<details>")
    assert not acts(before, 6)
    assert re.search(r'<(img|script)\b|="javascript', texts) is None  # there Markdown is Markdown


def test_no_text_acts_on_the_page_of_a_week(hostile, tmp_path, memory, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(figures, "display_figure", lambda figure, words: None)
    (tmp_path / "progress.jsonl").touch()
    memory["passed checks"] = {"causes"}
    found = json.loads((evalset.DEFAULT / "results.json").read_text(encoding="utf-8"))
    for run in found["compared_dev"]["runs"]:
        run["name"] = ACTS
    given = (lambda: {"q": (ACTS, ACTS)}), {"q": inert.Markup("<h4>Card</h4>")}, ACTS
    asked = {**hostile.queries, "q": next(iter(hostile.queries.values()))}
    week.save_week(hostile._replace(queries=asked), found, *given)
    page = (tmp_path / "your_week.html").read_text(encoding="utf-8")
    assert not acts(
        cleaned(page), 7
    )  # alt text, search, question, cause, evidence, note, next step


def test_no_text_acts_in_the_panel(hostile):
    shown = panel.Panel(hostile, [(f"{ACTS}0", d) for d in hostile.documents], repeats=0)
    title, _, body = shown.document.value.partition('class="facts"')
    assert not acts(shown.query.value) and not acts(title)
    for page in (body, shown.guide.value):  # there Markdown is Markdown
        assert "<b>" in seen(page)
        assert re.search(r'<(b|img|script)\b|="javascript', page) is None
    assert not acts(practice.differing_html(hostile, {hostile.judgments[0][:2]: 0}), 3)


def test_what_acts_or_asks_for_something_is_taken_from_a_page_and_all_else_stays():
    for wrong, left in TAKEN:
        assert inert.clean(wrong) == left, wrong
    row = '<tr style="text-align:right"><td colspan="2">1</td></tr>'
    table = f'<table class="text"><tbody>{row}</tbody></table>'
    drawing = '<img alt="A bar" src="data:image/png;base64,iVBO">'
    links = '<a href="#a">c</a> <a href="https://x/y">d</a> <a href="notes.md">e</a>'
    box = '<div role="group" tabindex="0" aria-label="Document">f</div>'  # scrolls by keys
    kept = f'<h2 id="a">A</h2><p><mark>b</mark> {links}</p>{table}{drawing}{box}'
    assert inert.clean(kept) == kept


TAKEN = [  # (what stands in a page, what is left of it)
    ('<b tabindex="1">first of all</b>', "<b>first of all</b>"),
    ("<script>x()</script>a", "a"),
    ("<style scoped>.dataframe { color: red } @import '//x'</style>a", "a"),
    ("<img src=x onerror=x()>", "<img>"),
    ("<img src=https://x/y.png>", "<img>"),
    ("<img src='data:image/svg+xml,x'>", "<img>"),
    ("<svg onload=x()><style><img src=x onerror=x()></style></svg>a", "<img>a"),
    ("<a href=javascript:x()>a</a>", "<a>a</a>"),
    ("<a href='data:image/png;base64,x'>a</a>", "<a>a</a>"),
    ("<a href=http://x>a</a><a href=//x>b</a><a href=../x.md>c</a>", "<a>a</a><a>b</a><a>c</a>"),
    ("<p style='background:url(//x);text-align:left' onclick=x()>b</p>",
     '<p style="text-align:left">b</p>'),
    ("<iframe src=//x></iframe><object data=//x></object><embed src=//x>a", "a"),
    ("<base href=//x><form action=//x><input autofocus onfocus=x()>a</form>", "a"),
    ("<a href=notes.mdx>a</a>", "<a>a</a>"),
]  # fmt: skip
