"""Trees of Markdown, text and code become documents."""

import json
import os
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from importing import bring, problems, put, read, task

from helpers.label import manifest, trees, write
from helpers.measure import evalset, files


def test_markdown(tmp_path):
    tree = tmp_path / "tree"
    page = "---\nkind: runbook\nupdated: soon\n---\n\n# Disk full #\n\nDelete logs.\n"
    put(tree / "node" / "disk full.md", page.replace("\n", "\r\n"))
    put(tree / "none.markdown", b"\xef\xbb\xbfBody only.\n")
    put(tree / "broken.md", "---\n[a: b\n---\nBody.\n")
    put(tree / "empty.md", "---\ntitle: x\n---\n")
    lines, evals = bring("markdown", tree, tmp_path / "to")
    assert {d.doc_id: (d.title, d.text, d.kind) for d in evals.documents.values()} == {
        "node:disk%20full": ("Disk full", "Delete logs.", "runbook"),
        "none.markdown": ("none", "Body only.", "unspecified"),
        "broken": ("broken", "---\n[a: b\n---\nBody.", "unspecified"),
    }
    first = f"first {tree}"
    assert lines == [
        "documents: 3",
        "queries: 0",
        "judgments: 0",
        f"left out: {trees.NOT_FIELDS}: 1, {first}/broken.md:2",
        f"left out: documents without text: 1, {first}/empty.md:1",
        "left out: front-matter field updated (a date such as 2026-04-08): 1, "
        f"{first}/node/disk full.md:2",
    ]
    assert not evals.queries and evals.next_step() == evalset.NO_QUERIES
    assert not (tmp_path / "to" / "retrieval_queries.jsonl").exists()
    guides = (folder / "labeling_guide.md" for folder in (tmp_path / "to", write.NEW))
    assert len({guide.read_bytes() for guide in guides}) == 1


def test_our_own_form_and_its_front_matter_are_read_alike_here_and_in_a_set(folder, tmp_path):
    put(folder / "corpus" / "queue-full.md", "---\ntitle: 2026-04-08\n--- \t\nAdd a consumer.\n")
    _, evals = bring("markdown", folder / "corpus", tmp_path / "to")
    assert evals.documents == evalset.load(folder).documents
    assert evals.documents["queue-full"].title == "2026-04-08"


def left(log, folder):
    return {
        reason: (n, first.removeprefix(f"{folder}/")) for reason, (n, first) in log.left.items()
    }


def test_a_tree_is_walked_in_order_and_what_is_left_out_is_counted(tmp_path):
    names = "b/2.txt b/1.TXT a.txt c/.x/h.txt c/dist/d.txt c/venv/v.txt p.png q.png c:d/e.x.txt"
    for name in names.split():
        put(tmp_path / name, name)
    put(tmp_path / "c" / "own" / "pyvenv.cfg", "")
    put(tmp_path / "zbin.txt", b"x\0")
    put(tmp_path / "latin.txt", b"caf\xe9\n")
    (tmp_path / "link.txt").symlink_to(tmp_path / "a.txt")
    if sys.platform == "linux":  # elsewhere all names of files are text
        put(tmp_path / os.fsdecode(b"zcaf\xe9.txt"), "two")
    log = task("text", tmp_path)
    found = [(doc_id, text) for _, doc_id, text in trees.tree(log, [".txt"])]
    ids = ["a", "b:1", "b:2", "c:dist:d", "c:d:e.x"]
    texts = ["a.txt", "b/1.TXT", "b/2.txt", "c/dist/d.txt", "c:d/e.x.txt"]
    assert found == [*zip(ids, texts, strict=True)]
    latin = "latin.txt:1: byte 0xe9 is not UTF-8, save the file as UTF-8"
    assert left(log, tmp_path) == {
        "hidden, vendored or built folders": (3, "c/.x"),
        "files of another type": (2, "p.png"),
        "links": (1, "link.txt"),
        "files that are not UTF-8": (2 + (sys.platform == "linux"), latin),
    }
    assert "\n".join(log.lines()).encode()


def page(tmp_path, content, name="p.md", **more):
    """Return the row of a page, and what was left out of it."""
    path = put(tmp_path / "pages" / name, content)
    source, log = read("markdown", path.parent, **more)
    ((place, row),) = source.documents
    path.unlink()
    assert place == f"{path}:1"
    return row, left(log, path.parent)


HEADINGS = [  # page, title, text
    ("# One #\n\nBody.\n", "One", "Body."),
    ("# C#\n\nBody.\n", "C#", "Body."),
    ("###### Six ##  \nBody.\n", "Six", "Body."),
    ("####### Seven\nBody.\n", "p", "####### Seven\nBody."),
    ("#no\n# \nText\n", "p", "#no\n# \nText"),
    ("Under\n===  \nBody.\n", "Under", "Body."),
    ("Before.\n\n# Later\nBody.\n", "Later", "Before.\n\n# Later\nBody."),
    ("# Alone\n", "Alone", "# Alone"),
    ("\n\n# Far\n\n\nBody.\n\n", "Far", "Body."),
    ("~~~\n# code\n~~~\n# Real\nx", "Real", "~~~\n# code\n~~~\n# Real\nx"),
    ("```\n# open end\n# two", "p", "```\n# open end\n# two"),
]


def test_the_first_heading_is_the_title(tmp_path):
    for text, title, body in HEADINGS:
        row, out = page(tmp_path, text)
        assert row == {"doc_id": "p", "title": title, "text": body} and not out, text


FIELDS = "title: T\nservice: s\nupdated: soon\nzeta: 1\nkind: ''\n"
UNFIT = {
    "front-matter field kind (1 to 60 letters, digits, spaces and -_/.&+())",
    "front-matter field updated (a date such as 2026-04-08)",
    trees.UNKNOWN,
}
FAQ = "question: Why?\nhint: Look.\n"
ASKED = [  # fields, --title, --text, title, text, what is left out
    (FIELDS, None, None, "T", "# H\n\nSo.", UNFIT),
    (FAQ, "question", None, "Why?", "# H\n\nSo.", {trees.UNKNOWN}),
    (FAQ, "hint,question", "hint,body", "Look.", "Look.\n\n# H\n\nSo.", set()),
    (FAQ, None, "question", "H", "Why?", {trees.UNKNOWN}),
]


def test_fields_of_the_front_matter_are_kept_become_title_and_text_or_are_told(tmp_path):
    for fields, title, text, *wanted in ASKED:
        content = f"---\n{fields}---\n# H\n\nSo.\n"
        row, out = page(tmp_path, content, "a.mdx", title=title, text=text)
        assert [row["title"], row["text"], {*out}] == wanted, fields
        assert row.get("service") == ("s" if fields == FIELDS else None)
        assert {*out.values()} <= {(1, "a.mdx:2")} and row["doc_id"] == "a.mdx"
    put(tmp_path / "pages" / "a.md", f"---\n{FAQ}---\nText.")
    (told,) = problems("markdown", tmp_path / "pages", tmp_path / "no", title="quest")
    assert told.startswith("a.md:1: no --title quest in any document, found body, hint, question,")


HUGO = """+++
title = "Disk full"
updated = 2026-04-08
weight = 3
tags = ["disk"]
+++
"""
SITE = [  # a page of Hugo, Jekyll or MkDocs; title, text, tags
    (HUGO + "Free space.\n", "Disk full", "Free space.", 0),
    ("+++\ntitle = T\n+++\nBody.\n", "p", "+++\ntitle = T\n+++\nBody.", 0),
    (
        "Before {{< hint info >}}see{{< /hint >}} {% include x.md %}after\n",
        "p",
        "Before see after",
        3,
    ),
    ("{{% alert\n a %}}A{{% /alert %}}", "p", "A", 2),
    ("{{ $labels.pod }} `{% raw %}`\n  ```\n{{< a >}}\n  ```\n{{<b>}}", "p")
    + ("{{ $labels.pod }} `{% raw %}`\n  ```\n{{< a >}}\n  ```", 1),
]


def test_front_matter_and_tags_of_site_generators(tmp_path):
    for content, title, text, tags in SITE:
        path = put(tmp_path / "s" / "p.md", content)
        source, log = read("markdown", path.parent)
        ((_, row),) = source.documents
        assert (row["title"], row["text"]) == (title, text), content
        assert log.changed[trees.TAGS] == tags, content
        assert row.get("updated") == ("2026-04-08" if content.startswith(HUGO) else None)
    for name in "ab":
        put(tmp_path / "s" / f"{name}.md", HUGO + "Text.")
    lines, _ = bring("markdown", tmp_path / "s", tmp_path / "to")
    first = f"first {tmp_path / 's' / 'a.md'}:2"
    assert f"left out: {trees.UNKNOWN}: 4, {first} (tags 2, weight 2)" in lines
    assert f"changed: {trees.TAGS}: 1" in lines


TEXTS = [  # file, title, text
    ("A short first line\n\nThe rest.\n", "A short first line", "The rest."),
    ("x" * 100 + "\nrest", "x" * 100, "rest"),
    ("x" * 101 + "\nrest", "p", "x" * 101 + "\nrest"),
    ("alone\n \n", "p", "alone\n "),
]


def test_a_short_first_line_is_the_title_of_a_text(tmp_path):
    for text, title, body in TEXTS:
        path = put(tmp_path / "t" / "p.txt", text)
        found = list(read("text", path.parent)[0].documents)
        assert found == [(f"{path}:1", {"doc_id": "p", "title": title, "text": body})], text


def test_a_source_file_is_a_document_under_its_path(tmp_path):
    for name in ("m.py", "target/y.go", "b/x.GO"):
        put(tmp_path / name, "\nimport os\n\n")
    source, log = read("code", tmp_path)
    rows = {row["doc_id"]: (place, row["title"], row["text"]) for place, row in source.documents}
    assert rows == {
        "b:x.GO": (f"{tmp_path}/b/x.GO:1", "b/x.GO", "import os"),
        "m.py": (f"{tmp_path}/m.py:1", "m.py", "import os"),
    }
    assert left(log, tmp_path) == {"hidden, vendored or built folders": (1, "target")}


BOTH = (  # what is in the text of either saved page
    "The queue is *stuck* when its oldest mail is over **ten minutes** old. See",
    "Never delete `/var/spool`.",
    "```\nmailq | tail -n 1\npostqueue -f\n```",
    "| queue | mails |\n| --- | --- |\n| bulk_mail | 5*10 |",
)
SAVED = [  # kind, more that is in it, what is not
    (
        "html",
        ["Disk full and [the dashboard](https://grafana.example/d/mail).", "1. Count.\n2. Flu"],
    )
    + (["index", "Powered", "¶", "Operations", "disk.html", "color", "# Mail", "is out"],),
    (
        "rst",
        [
            "Disk full, flush and MAIL_LIMIT",
            "deprecated: 2.1\n\nUse postqueue",
            "Debian\n\napt-get",
        ]
        + [
            "flush(queue, limit=10)\n\nSends what waits, up to *limit* mails.",
            "Limits of Operations",
        ]
        + ["without a text limits.", "A raw line."],
        ["orphan", "hidden-page", "emphasize", "alert", "flush.py", "root:", "# Mail", "::"],
    ),
]


@pytest.mark.parametrize(("kind", "more", "not_in"), SAVED)
def test_a_saved_page_becomes_markdown(kind, more, not_in, tmp_path):
    page = Path(__file__).parent / "saved" / f"queue.{kind}"
    put(tmp_path / "t" / "ops" / page.name, page.read_bytes())
    lines, evals = bring(kind, tmp_path / "t", tmp_path / "to")
    (document,) = evals.documents.values()
    assert document.doc_id == ("ops:queue" if kind == "html" else "ops:queue.rst")
    assert document.title == "Mail queue"
    for words in (*BOTH, *more):
        assert words in document.text, words
    for words in not_in:
        assert words not in document.text, words
    tools = {"html": "markdownify and beautifulsoup4", "rst": "docutils and markdownify"}[kind]
    versions = " and ".join(f"{tool} {version(tool)}" for tool in tools.split(" and "))
    assert f"pages are converted by {versions}" in lines
    assert f"pages are converted by {versions}" in (tmp_path / "to" / "README.md").read_text()
    made = files.json_page(manifest.write_manifest(evals, {}))["versions"]
    assert {tool: made[tool] for tool in tools.split(" and ")} == {
        tool: version(tool) for tool in tools.split(" and ")
    }
    assert any("include from other files: 1" in line for line in lines) == (kind == "rst")


BARE = [  # kind, page, title, text
    ("html", "<title>T</title><p>No heading, no body tag.</p>", "T", "No heading, no body tag."),
    ("html", "<body><header><h1>In a header</h1></header><nav>x</nav>a</body>", "In a header", "a"),
    (
        "html",
        '<div class="header"><a accesskey="n">Next</a></div><h4>Texinfo</h4>b',
        "Texinfo",
        "b",
    ),
    (
        "html",
        '<h2>DocBook</h2>b<div class="navheader">Prev</div><div class="navfooter">Up</div>',
        "DocBook",
        "b",
    ),
    ("html", '<meta charset="iso-8859-1">caf\xe9'.encode("latin-1"), "p", "caf\xe9"),
    ("html", "<pre>a\n  b</pre>", "p", "```\na\n  b\n```"),
    ("rst", "Body alone, `half a :role:`x.\n", "p", "Body alone, `half a :role:`x."),
    ("rst", "A\n=\n\nB\n-\n\n.. math::\n   :label: e\n\n   x^2\n", "A", "```\nx^2\n```"),
]


def test_pages_of_few_parts(tmp_path):
    for n, (kind, text, title, body) in enumerate(BARE):
        path = put(tmp_path / f"{n}" / f"p.{kind}", text)
        ((_, row),) = read(kind, path.parent)[0].documents
        assert row["title"] == title and row["text"].endswith(body), (text, row)


@pytest.mark.parametrize("name", ["a.md", "corpus/a.md"])
def test_queries_beside_the_folder_corpus(name, tmp_path):
    data = tmp_path / "data"
    put(data / "corpus" / "a.md", "Text.")
    put(data / "corpus" / "sub" / "b.md", "More.")
    put(data / "README.md", "No document.")
    rows = [{"id": 1, "query": "what?", "relevant_docs": [name]}]
    put(data / "eval_queries.json", json.dumps(rows))
    for root in (data, data / "corpus") if name == "a.md" else (data,):
        _, evals = bring("markdown", root, tmp_path / f"to-{root.name}")
        assert evals.qrels() == {"1": {"a": 1}} and [*evals.documents] == ["a", "sub:b"]


RELEVANT = [  # relevant_docs, the labels
    (["./sub/c.rst", "a b", "gone.txt"], {"sub:c.rst": 1, "a%20b": 1}),
    ([7], {"7": 1}),
    ("corpus/a b.txt", {"a%20b": 1}),
]


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize(("relevant", "wanted"), RELEVANT)
def test_queries_stand_in_a_file_with_the_pages_or_beside_them(relevant, wanted, beside, tmp_path):
    tree = tmp_path / "t"
    for name in ("a b.txt", "sub/c.rst", "7.txt", "d.md"):
        put(tree / name, name)
    rows = [{"id": 1, "query": "who?", "relevant_docs": relevant},
            {"id": "q2", "query": "where?", "relevant_docs": ["a b.txt"]},
            {"id": "q3", "query": "why?", "relevant_docs": []}]  # fmt: skip
    path = put((tmp_path if beside else tree) / "eval_queries.json", json.dumps(rows, indent=1))
    lines, evals = bring("text", tree, tmp_path / "to")
    assert evals.qrels() == {"1": wanted, "q2": {"a%20b": 1}} and evals.imported == "text"
    assert evals.queries["1"].query == "who?" and len(evals.documents) == 3
    assert f"left out: files of another type: 1, first {tree}/d.md" in lines
    path.write_text('[{"id": "m", "query": "what?", "relevant_docs": ["d.md"]}]')
    assert bring("markdown", tree, tmp_path / "md")[1].qrels() == {"m": {"d": 1}}
    path.write_text('[{"id": "m", "query": "what?", "relevant": ["d.md"]}]')
    (told,) = problems("markdown", tree, tmp_path / "none")
    assert "found columns id, query, relevant; nearest is " in told
