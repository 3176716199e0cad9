"""Readers of file trees: Markdown, HTML, reStructuredText, plain text, source code."""

import os
import re
import tomllib
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from ..measure import files
from ..measure.files import EvalSetError, Row, Rows
from . import collections, converters, readers, shapes, tables
from .readers import Source, Task

VENDORED = set(
    "node_modules bower_components vendor vendored third_party thirdparty site-packages "
    "venv __pycache__".split()
)
BUILT = {"build", "dist", "target"}  # in source trees only: a manual may have such a chapter
PAGES = (".md", ".markdown", ".mdx")
CONVERTED = {  # kind: endings of its files, what makes Markdown of them, the packages of that
    "html": (
        (".html", ".htm", ".xhtml"),
        converters.html_markdown,
        ("markdownify", "beautifulsoup4"),
    ),
    "rst": ((".rst", ".rest"), converters.rst_markdown, ("docutils", "markdownify")),
}
TEXTS = (".txt", ".text", ".rst", ".adoc", ".log")
CODE_FILES = (
    ".py .pyi .js .jsx .mjs .ts .tsx .java .kt .scala .go .rs .c .h .cc .cpp .hpp .cs .swift .m "
    ".rb .php .pl .lua .r .jl .hs .ml .ex .exs .erl .clj .sh .bash .ps1 .sql .tf .proto .vue .dart"
).split()
HEADING = re.compile(  # or a code block, in which none stands: `# Title`, or `Title` over ===
    r"^(```|~~~)(?s:.*?)(?:^\1|\Z)|"
    r"^(?:#{1,6}[ \t]+(?=\S)|(?=\S.*\n=+[ \t]*$))(?P<title>.+)(?:\n=+[ \t]*$)?",
    re.MULTILINE,
)
TOML = re.compile(r"\+\+\+[ \t]*\n(.*?\n)\+\+\+[ \t]*(?:\n|$)", re.DOTALL)  # Hugo's front matter
TAG = re.compile(  # of Hugo or Liquid; or code, in which one is a part of the text
    r"^[ \t]*(```|~~~)(?s:.*?)(?:^[ \t]*\1|\Z)|`[^`\n]+`|"
    r"(?P<tag>(?s:\{\{<.*?>\}\}|\{\{%.*?%\}\}|\{%.*?%\}))",
    re.MULTILINE,
)
TAGS = "template tags, which are not in the text"
NOT_FIELDS = "front matters that are not YAML or TOML fields, kept as text"
UNKNOWN = "front-matter fields that a set does not have"
QUERIES = "eval_queries.json"  # in the folder of pages or beside it


def markdown_tree(task: Task) -> Source:
    """Read a tree of Markdown files: front matter is optional, the first heading is the title."""
    return _with_queries((_markdown(*page, task) for page in tree(task, PAGES)), task)


def converted_tree(task: Task) -> Source:
    """Read a tree of HTML or reStructuredText; the first heading is the title, else <title>."""
    endings, convert, tools = CONVERTED[task.options.kind]
    about = converters.made_by(tools)
    pages = (_converted(*page, convert, task) for page in tree(task, endings))
    return _with_queries(pages, task)._replace(about=(about,))


def _converted(path: Path, doc_id: str, text: str, convert: Callable, task: Task) -> Row:
    title, markdown = convert(text)
    heading, body = _heading(markdown)
    if task.options.kind == "rst" and converters.INCLUDED.search(text):
        task.leave_out("texts that pages include from other files", f"{path}:1")
    return _row(path, doc_id, heading or title or path.stem, body)


def text_tree(task: Task) -> Source:
    """Read a tree of text files; the first line is the title where it is short."""
    return _with_queries((_plain(*page) for page in tree(task, TEXTS)), task)


def _with_queries(pages: Rows, task: Task) -> Source:
    """Return pages with the queries of --labels, or of QUERIES, which need not be there."""
    if task.options.labels:
        splits = collections.labels_by_split(tables.files_of(Path(task.options.labels)))
        return shapes.judged(readers.choose_splits(splits, task), splits, pages, task)
    root = pages_folder(task)
    for path in (root / QUERIES, root.parent / QUERIES):
        if path.is_file():
            return shapes.judged({"all": [path]}, ["all"], pages, task)
    return Source(pages)


def pages_folder(task: Task) -> Path:
    """Return the folder of the pages: `corpus` in it where the queries stand beside that."""
    root = Path(task.options.path)
    inner = root / shapes.CORPUS
    return inner if inner.is_dir() and (root / QUERIES).is_file() else root


def code_tree(task: Task) -> Source:
    """Read a source tree: each file is a document, its path the title."""
    root = Path(task.options.path)
    pages = tree(task, CODE_FILES, VENDORED | BUILT)
    return Source(
        _row(p, doc_id, p.relative_to(root).as_posix(), text) for p, doc_id, text in pages
    )


def tree(
    task: Task, endings: Collection[str], skip: Collection[str] = VENDORED
) -> Iterator[tuple[Path, str, str]]:
    """Yield (path, id, text) of the files with one of `endings`, in a fixed order.

    What is no text of people's own is left out and counted. Raises EvalSetError for no folder.
    """
    root = pages_folder(task)
    if not root.is_dir():
        raise EvalSetError(f"{root}:1: is no folder, wanted one for {task.options.kind}:")
    for here, folders, names in os.walk(root):
        for name in sorted(folders):
            if name in skip or name[0] == "." or Path(here, name, "pyvenv.cfg").exists():
                task.leave_out("hidden, vendored or built folders", os.path.join(here, name))
                folders.remove(name)
        folders.sort()
        for path in (Path(here, name) for name in sorted(names) if name != QUERIES):
            if (text := _text_of_file(path, endings, task)) is not None:
                yield path, readers.encode_id(readers.page_name(path.relative_to(root))), text


def _text_of_file(path: Path, endings: Collection[str], task: Task) -> str | None:
    """Return the text of a file that counts; None for another, which is left out and counted."""
    place = str(path).encode("utf-8", "backslashreplace").decode()
    problems = []
    if path.suffix.lower() not in endings or not path.is_file():
        reason = "files of another type"
    elif path.is_symlink():
        reason = "links"
    elif not os.access(path, os.R_OK):
        reason = "files that you may not read"
    else:
        text = files.page(path, problems) if place == str(path) else None
        if text is None and task.options.kind == "html":
            text = converters.in_own_encoding(path.read_bytes())
        if text is not None and "\0" not in text:
            return text
        reason = "files that are not UTF-8"
    task.leave_out(reason, [*problems, place][0])
    return None


def _markdown(path: Path, doc_id: str, text: str, task: Task) -> Row:
    """Return a page with the fields of its front matter that a set knows."""
    problems = []
    fields, body = _front_matter(path, text, problems)
    if problems:
        task.leave_out(NOT_FIELDS, f"{path}:2")
        body = text
    body = _without_tags(body, task)
    form = files.schema("page")
    known = {name: value for name, value in fields.items() if form.fits(name, value)}
    used = f"{task.options.title},{task.options.text}".split(",")
    for name in sorted(fields.keys() - known.keys() - {*used}):
        if name in form.fields:
            task.leave_out(f"front-matter field {name} ({form.wanted(name)})", f"{path}:2")
        else:
            task.leave_out(UNKNOWN, f"{path}:2", name)
    title, chosen = readers.title_and_text(f"{path}:1", {**fields, "body": body}, task)
    title = title or known.get("title", "")
    if not title:
        title, body = _heading(body)
    row = {"doc_id": doc_id, "title": "", **known, "text": chosen or body.strip("\n")}
    row["title"] = title or path.stem
    return f"{path}:1", row


def _front_matter(path: Path, text: str, problems: list[str]) -> tuple[dict, str]:
    """Return the fields of a YAML or TOML front matter, single values as text, and the body."""
    block = TOML.match(text)
    if not block:
        return files.front_matter(path, text, problems) or ({}, text)
    try:
        fields = tomllib.loads(block[1])
    except tomllib.TOMLDecodeError as error:
        problems.append(f"{path}:2: bad front matter ({error}), wanted TOML")
        return {}, text
    for name, value in fields.items():
        if not isinstance(value, (list, dict)):
            fields[name] = str(value)
    return fields, text[block.end() :]


def _without_tags(text: str, task: Task) -> str:
    """Return Markdown without the tags that a site generator replaces, which are counted."""

    def shown(match: re.Match) -> str:
        if match["tag"] is None:
            return match[0]
        task.changed[TAGS] += 1
        return ""

    return TAG.sub(shown, text)


def _heading(body: str) -> tuple[str, str]:
    """Return the first heading, "" without one, and the body, without a heading at its top."""
    heading = next((match for match in HEADING.finditer(body) if match["title"]), None)
    if not heading:
        return "", body
    title = heading["title"].strip()
    bare = title.rstrip("#")
    if bare[-1:].isspace():  # else they belong to a word: C#
        title = bare.rstrip()
    above, below = body[: heading.start()].strip(), body[heading.end() :]
    return title, body if above or not below.strip() else below


def _plain(path: Path, doc_id: str, text: str) -> Row:
    first, _, rest = text.strip().partition("\n")
    if len(first) <= 100 and rest.strip():
        return _row(path, doc_id, first.strip(), rest)
    return _row(path, doc_id, path.stem, text)


def _row(path: Path, doc_id: str, title: str, text: str) -> Row:
    return f"{path}:1", {"doc_id": doc_id, "title": title, "text": text.strip("\n")}
