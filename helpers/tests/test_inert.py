"""Texts of a set on a page, in a cell and on a terminal: shown as they are, and doing nothing."""

import ast
import contextlib
import functools
import html
import io
import json
import re

import mistune
import nbformat
import pytest
from test_house import ROOT, modules

from helpers import evalset, figures, report, text
from notebooks import appendix, decision

# Nothing but constants, numbers and what went through `inert` becomes markup. An expression is
# followed to what it is made of: names to all that they are given, functions to what they return.

SINKS = ("Markdown", "HTML")
MAKERS = ("inert", "marked", "with_code", "clean", "show", "worded")  # what comes out is markup
NUMBERS = ("any", "bool", "len", "sum", "int", "float", "round", "range")
SAME = ("items", "values", "keys", "capitalize", "join", "most_common")  # as safe as they are given
PASS = ("str", "list", "dict", "zip", "enumerate", "sorted", "reversed", "how_many", "next", "iter")
PLAIN = ("evidence",)  # a widget that shows plain text


def code_of_notebooks():
    """Return {notebook: its code cells, parsed}."""
    paths = [*(ROOT / "notebooks").glob("*.ipynb"), ROOT / "evals" / "retrieval_eval.ipynb"]
    books = {path.name: nbformat.read(path, as_version=4).cells for path in paths}
    return {
        name: [ast.parse(cell.source) for cell in cells if cell.cell_type == "code"]
        for name, cells in books.items()
    }


def name_of(node):
    """Return the last part of a name: `text.inert` is inert."""
    return getattr(node, "attr", getattr(node, "id", ""))


@functools.cache
def inside(scope):
    """Return the nodes of a function, a cell or a module without those of its functions."""
    found = []
    for node in ast.iter_child_nodes(scope):
        closed = isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda)
        found += [node] if closed else [node, *inside(node)]
    return found


def given(scope, name):
    """Yield what is bound to a name in a scope, added to it, or run through to give it."""
    for node in inside(scope):
        match node:
            case ast.Assign(targets=targets, value=value):
                pass
            case (
                ast.AugAssign(target=target, value=value)
                | ast.AnnAssign(target=target, value=value)
            ):
                targets = [target]
            case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                targets = [target]
            case ast.Call(func=ast.Attribute(value=target, attr="append" | "extend"), args=[value]):
                targets = [target]
            case _:
                continue
        targets = [t.value if isinstance(t, ast.Subscript) else t for t in targets]
        if any(name == name_of(n) for t in targets for n in ast.walk(t) if hasattr(n, "id")):
            yield value


class Reader:
    """Says of an expression whether all that it is made of is safe in markup."""

    def __init__(self, trees):
        self.functions = {}
        for tree in trees:
            methods = [part for node in tree.body for part in getattr(node, "body", ())]
            for node in (*tree.body, *methods):  # a name stands for one function, see test_house
                if isinstance(node, ast.FunctionDef) and node in tree.body:
                    self.functions[node.name] = (node, tree)
                elif isinstance(node, ast.FunctionDef):
                    self.functions.setdefault(node.name, (node, tree))
        self.open = set()

    def is_safe(self, node, scopes):
        """Return whether `node` is; `scopes` are those of its names, the innermost first."""
        match node:
            case ast.FormattedValue(value=value, format_spec=ast.JoinedStr(values=[*_, spec])):
                return str(getattr(spec, "value", "")).endswith(tuple("dfg%,"))
            case ast.FormattedValue(value=value) | ast.Starred(value=value):
                return self.is_safe(value, scopes)
            case ast.Subscript(value=value):
                return self.is_safe(value, scopes)
            case ast.IfExp(body=body, orelse=other):
                return self.all_safe([body, other], scopes)
            case ast.ListComp(elt=value) | ast.GeneratorExp(elt=value):
                return self.is_safe(value, [node, *scopes])
            case ast.DictComp(key=key, value=value):
                return self.all_safe([key, value], [node, *scopes])
            case ast.Dict(keys=keys, values=values):
                return self.all_safe([*filter(None, keys), *values], scopes)
            case ast.JoinedStr(values=parts) | ast.BoolOp(values=parts):
                return self.all_safe(parts, scopes)
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return self.all_safe(parts, scopes)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):  # one of them is a number
                return self.is_safe(left, scopes) or self.is_safe(right, scopes)
            case ast.BinOp(left=left, right=right):
                return self.all_safe([left, right], scopes)
            case ast.Call():
                return self.is_safe_call(node, scopes)
            case ast.Name(id=name):
                return self.is_safe_name(name, scopes)
        never_text = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
        return never_text or isinstance(node, ast.Constant | ast.Compare)

    def all_safe(self, nodes, scopes):
        """Return whether all nodes are safe."""
        return all(self.is_safe(node, scopes) for node in nodes)

    def is_safe_call(self, call, scopes):
        """Return whether a call gives what is safe."""
        name, args = name_of(call.func), call.args
        if name == "get":
            return self.all_safe([call.func.value, *args[1:]], scopes)
        if name == "map":
            return name_of(args[0]) in MAKERS
        if name in SAME or name in PASS:
            base = [call.func.value] if isinstance(call.func, ast.Attribute) else []
            base = [] if name == "how_many" else base
            return self.all_safe([*base, *args[name == "how_many" :]], scopes)
        if name in MAKERS or name in NUMBERS or name == "to_html":
            return not any(key.arg == "escape" for key in call.keywords)
        return self.is_safe_function(name)

    def is_safe_function(self, name):
        """Return whether all that a function of ours returns is safe."""
        if name not in self.functions or name in self.open:
            return name in self.open
        function, tree = self.functions[name]
        returned = [n.value for n in inside(function) if isinstance(n, ast.Return) and n.value]
        self.open.add(name)
        safe = bool(returned) and self.all_safe(returned, [function, tree])
        self.open.discard(name)
        return safe

    def is_safe_name(self, name, scopes):
        """Return whether all that a name is given in the innermost scope that gives it is safe."""
        for n, scope in enumerate(scopes):
            values = list(given(scope, name))
            if values:
                key = (name, id(scope))
                if key in self.open:
                    return True
                self.open.add(key)
                safe = self.all_safe(values, scopes[n:])
                self.open.discard(key)
                return safe
            if isinstance(scope, ast.FunctionDef) and name in {a.arg for a in scope.args.args}:
                return False
        return False


def sinks(tree):
    """Yield (expression that becomes markup, its innermost scopes) of a module or a cell."""
    for scope in (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.Module)):
        for node in inside(scope):
            scopes = [scope] if scope is tree else [scope, tree]
            if isinstance(node, ast.Call) and name_of(node.func) in SINKS:
                yield from ((arg, scopes) for arg in node.args)
            if isinstance(node, ast.Assign) and any(is_shown(target) for target in node.targets):
                yield node.value, scopes


def is_shown(target):
    """Return whether a target is the value of a widget that shows HTML."""
    is_value = isinstance(target, ast.Attribute) and target.attr == "value"
    return is_value and name_of(target.value) not in PLAIN


def unsafe(trees, before=()):
    """Return the expressions that reach a page otherwise; `before` are trees of other modules."""
    reader, found = Reader([*before, *trees]), []
    for n, tree in enumerate(trees):
        for node, scopes in sinks(tree):
            if not reader.is_safe(node, [*scopes, *reversed(trees[:n])]):
                found.append(ast.unparse(node))
    return found


@pytest.mark.proof
def test_nothing_but_what_went_through_inert_becomes_markup():
    rooms = modules()
    found = {str(path): unsafe([tree], rooms.values()) for path, tree in rooms.items()}
    found |= {name: unsafe(cells, rooms.values()) for name, cells in code_of_notebooks().items()}
    assert {name: nodes for name, nodes in found.items() if nodes} == {}
    texts = (report.week, report.summary, report.facts, report.label_facts)
    assert [
        f.__name__ for f in texts if not Reader(rooms.values()).is_safe_function(f.__name__)
    ] == []


@pytest.mark.parametrize(
    "code",
    [
        "Markdown(query.kind)",
        "Markdown(f'{kind}')",
        "Markdown(f'{kind:>5}')",
        "HTML('<p>' + kind)",
        "HTML('<p>%s' % kind)",
        "kind = inert(kind)\nkind += more\nHTML(kind)",
        "lines = []\nlines.append(kind)\nHTML('<br>'.join(lines))",
        "Markdown(', '.join(q.kind for q in queries))",
        "Markdown(', '.join(map(str, kinds)))",
        "def line(kind):\n    return f'- {kind}'\nMarkdown(line(inert(q)))",
        "def show_it(kind):\n    display(HTML(kind))",
        "notes = {inert(q): note for q, note in read}\nfor q in notes:\n    Markdown(notes[q])",
        "HTML(frame.to_html(escape=False))",
        "shown = text.inert\nshown = str\nMarkdown(shown(kind))",
        "self.message.value = words",
    ],
)
def test_the_reading_of_the_code_sees_a_raw_text(code):
    assert unsafe([ast.parse(code)])


# The function itself.

RAW = """<script>x()</script> <img src=x onerror=x()> [a](javascript:x()) ![](http://x/y.png)
**b** _c_ a_b 'q' "r" [^1] {z} \t= === &lt; ~~d~~ `e` <http://x> www.x.org x@y.z
# head\n- item\n1. one\n> quote\n| a | b |\n|---|---|\n```\ncode\n``` https://x.org $x^2$ \\(y\\)
a\n===\n--- </style></title> \\href{javascript:x()}{y}"""
STARTS = ("1. a", "1) a", "- a", "+ a", "* a", "# a", "> a", "    a", "  - a", "===", "---", ": a")
OTHERS = ("", "2026", "a\tb", "Ünï 日本 🚀")


@pytest.mark.parametrize("words", [RAW, *RAW.split("\n"), *STARTS, *OTHERS])
def test_an_inert_text_is_shown_as_it_stands_by_html_and_markdown(words):
    render = mistune.create_markdown(
        escape=False, plugins=["table", "url", "strikethrough", "footnotes", "math", "task_lists"]
    )
    shown = render(str(text.inert(words))) if words else "<p></p>\n"
    assert set(re.findall(r"</?(\w+)", shown)) <= {"p", "span"}
    for page in (shown.removeprefix("<p>").removesuffix("</p>\n"), text.inert(words)):
        assert html.unescape(re.sub("</?span>", "", page)) == words


def test_what_acts_on_a_terminal_is_written_as_an_escape():
    acting = "\x1b[31m \x07 \r \x9b \u202e \u2066 \u200f \ud800 \ufeff \x7f"
    seen = r"\x1b[31m \x07 \r \x9b \u202e \u2066 \u200f \ud800 \ufeff \x7f"
    assert text.visible(acting) == seen
    kept = "a\tb\nc é 日本 🏴\u200d☠️ नी"
    assert text.visible(kept) == kept
    assert html.unescape(re.sub("</?span>", "", text.inert(acting))) == seen


@pytest.mark.parametrize(("encoding", "shown"), [("utf-8", "é ✓"), ("cp1252", "é \\u2713")])
def test_a_screen_escapes_what_acts_and_what_it_cannot_encode(encoding, shown):
    raw = io.BytesIO()
    screen = text.Screen(io.TextIOWrapper(raw, encoding=encoding, newline="\n"))
    print("é ✓ \x1b[2J\udc80", file=screen, flush=True)
    assert raw.getvalue().decode(encoding) == shown + " \\x1b[2J\\udc80\n"
    assert screen.encoding == encoding and not screen.isatty()


def test_code_in_a_note_stays_code_and_holds_text_only():
    assert figures.with_code("say `a<b` or `c") == "say <code>a&#60;b</code> or &#96;c"


# Results that somebody else wrote, in the write-up.

ACTS = "<img src=x onerror=ran()>[a](javascript:ran())"
NAMES = "alert entity keyword mismatch misspelling multi temporal head tail paragraph".split()
PARTED_BY = {"split", "primary", "chunker"}  # their texts name other parts


def hostile(value, form, last=""):
    """Return a part of results.json with what acts in each text, as `form` gives it, and name."""
    if isinstance(value, dict):
        named = {name: f"{name}{ACTS}" if name in NAMES else name for name in value}
        return {named[name]: hostile(part, form, name) for name, part in value.items()}
    if isinstance(value, list):
        return [hostile(part, form, last) for part in value]
    return form(value + ACTS) if isinstance(value, str) and last not in PARTED_BY else value


def shown_of(found):
    """Yield each sentence and table of the write-up that is made of results and can be made."""
    query = evalset.Query("q", "a", (), kind=f"alert{ACTS}")
    labels = [evalset.Judgment("q", "d", 1)]
    ids = [*map(str, found["evidence"]["lost"]), *(str(c["query_id"]) for c in found["cards"])]
    documents = {"d": evalset.Document("d", "", "x")}
    evals = evalset.EvalSet(ROOT, documents, dict.fromkeys(ids, query), labels)
    told = [decision.two_sentences, decision.measured_on, decision.numbers, report.summary]
    told += [appendix.ranks, appendix.apart, appendix.best_chunks, appendix.nothing_shared]
    calls = [(function, found) for function in told]
    calls += [(function, found, evals) for function in (decision.actions, appendix.corpus)]
    calls += [(appendix.failure, found["cards"][0], found, {})]
    frames = [appendix.values, appendix.kinds, appendix.leaderboard, appendix.range_of_systems]
    tables = [(function, found) for function in frames]
    tables += [(function, found, evals) for function in (appendix.lost, appendix.causes)]
    tables += [(appendix.evidence_recall, found["evidence"]["dev"])]
    for function, *given in [*calls, *tables]:
        with contextlib.suppress(AttributeError, KeyError, TypeError, ValueError):
            made = function(*given)
            yield made if isinstance(made, str) else figures.captioned(made, "").data


@pytest.mark.parametrize(
    ("form", "least"),
    [(str, 10), (lambda text: {text: 1}, 4), (lambda text: [[text]], 4)],
)
def test_no_text_of_results_acts_in_the_write_up(form, least):
    page = (evalset.DEFAULT / "results.json").read_text(encoding="utf-8")
    found = hostile(json.loads(page), form)
    render = mistune.create_markdown(escape=False, plugins=["table", "url", "strikethrough"])
    pages = [*shown_of(found)]
    assert sum("ran()" in page for page in pages) >= least
    acting = [page for page in map(render, pages) if re.search(r"<(img|a)\b", page)]
    assert acting == []


# The page.


def test_a_cleaned_page_has_no_code_and_asks_for_nothing():
    row = '<tr style="text-align:right"><td colspan="2">1</td></tr>'
    table = f'<table class="text"><tbody>{row}</tbody></table>'
    drawing = '<img alt="A bar" src="data:image/png;base64,iVBO">'
    links = '<a href="#a">c</a> <a href="https://x/y">d</a> <a href="notes.md">e</a>'
    kept = f'<h2 id="a">A</h2><p><mark>b</mark> {links}</p>{table}{drawing}'
    assert text.clean(kept) == kept


@pytest.mark.parametrize(
    ("wrong", "left"),
    [
        ("<script>x()</script>a", "a"),
        ("<style scoped>.dataframe { color: red } @import '//x'</style>a", "a"),
        ("<img src=x onerror=x()>", "<img>"),
        ("<img src=https://x/y.png>", "<img>"),
        ("<img src='data:image/svg+xml,x'>", "<img>"),
        ("<svg onload=x()><style><img src=x onerror=x()></style></svg>a", "<img>a"),
        ("<math><mtext><table><mglyph><style><img src=x onerror=x()>", ""),
        ("<noscript><p title='</noscript><img src=x onerror=x()>'>", "&lt;p title='<img>'&gt;"),
        ("<a href=javascript:x()>a</a>", "<a>a</a>"),
        ("<a href='data:image/png;base64,x'>a</a>", "<a>a</a>"),
        (
            "<a href=http://x>a</a><a href=//x>b</a><a href=../x.md>c</a>",
            "<a>a</a><a>b</a><a>c</a>",
        ),
        (
            "<p style='background:url(//x);text-align:left' onclick=x()>b</p>",
            '<p style="text-align:left">b</p>',
        ),
        ("<iframe src=//x></iframe><object data=//x></object><embed src=//x>a", "a"),
        ("<meta http-equiv=refresh><base href=//x><link href=//x rel=stylesheet>a", "a"),
        ("<form action=//x><button formaction=//x>a</button></form>", "a"),
        ("<input autofocus onfocus=x()>a", "a"),
        ("<!-- a --><b>b", "<b>b</b>"),
    ],
)
def test_what_acts_or_asks_for_something_is_taken_from_a_page(wrong, left):
    assert text.clean(wrong) == left
