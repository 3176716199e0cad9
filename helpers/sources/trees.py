"""Readers of file trees: Markdown, plain text, source code. They find documents and no labels."""

import ast
import os
import re
import textwrap
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

from .. import files
from . import readers
from .readers import Log, Options, Source

VENDORED = set(
    "node_modules bower_components vendor vendored third_party thirdparty site-packages "
    "venv __pycache__".split()
)
BUILT = {"build", "dist", "target"}  # in source trees only: a manual may have such a chapter
GENERATED = re.compile(r"\.min\.js$|_pb2(_grpc)?\.pyi?$|\.pb\.(go|cc|h)$")
MADE = re.compile(  # what generators write into a comment at the top
    r"^[ \t]*(?:#|//|/?\*|--|;).{0,80}(@generated|code generated|auto-?generated|do not edit)",
    re.I | re.M,
)
LONG_LINE = re.compile(".{5001}")  # nobody writes a longer line of code by hand
PAGES = (".md", ".markdown", ".mdx")
TEXTS = (".txt", ".text", ".rst", ".adoc", ".log")
CODE_FILES = (
    ".py .pyi .js .jsx .mjs .ts .tsx .java .kt .scala .go .rs .c .h .cc .cpp .hpp .cs .swift .m "
    ".rb .php .pl .lua .r .jl .hs .ml .ex .exs .erl .clj .sh .bash .ps1 .sql .tf .proto .vue .dart"
).split()


def markdown_tree(options: Options, log: Log) -> Source:
    """Read a tree of Markdown files: front matter is optional, the first heading is the title."""
    return Source(
        (f"{path}:1", {"doc_id": doc_id, **_markdown(path, text, options, log)})
        for path, doc_id, text in tree(options, PAGES, log)
    )


def text_tree(options: Options, log: Log) -> Source:
    """Read a tree of text files; the first line is the title where it is short."""
    return Source(
        (f"{path}:1", {"doc_id": doc_id, **_plain(path, text)})
        for path, doc_id, text in tree(options, TEXTS, log)
    )


def code_tree(options: Options, log: Log) -> Source:
    """Read a source tree: Python by function, method and class, other languages by file."""
    return Source(_code(options, log))


def tree(
    options: Options, suffixes: Collection[str], log: Log, skip: Collection[str] = VENDORED
) -> Iterator[tuple[Path, str, str]]:
    """Yield (path, id, text) of the files with one of `suffixes`, in a fixed order.

    An id is the path below the folder, with : for /; .md and .txt are left out of it. Hidden and
    vendored folders, binary files and links are left out and counted.
    """
    folder = readers.folder_of(options)
    for here, folders, names in os.walk(folder):
        skipped = {
            name
            for name in folders
            if name in skip or name[0] == "." or Path(here, name, "pyvenv.cfg").exists()
        }
        for name in sorted(skipped):
            log.leave("hidden, vendored or built folders", os.path.join(here, name))
        folders[:] = sorted(set(folders) - skipped)
        for path in (Path(here, name) for name in sorted(names)):
            if path.suffix.lower() not in suffixes or not path.is_file():
                log.leave("files of another type", str(path))
                continue
            shown = str(path).encode("utf-8", "backslashreplace").decode()
            if path.is_symlink() or shown != str(path):
                why = "links" if path.is_symlink() else "files whose names are not UTF-8"
                log.leave(why, shown)
                continue
            unreadable: list[str] = []
            text = files.page(path, unreadable)
            if text is None:
                log.leave("files that are not UTF-8", unreadable[0])
            elif "\0" in text:
                log.leave("binary files", str(path))
            else:
                name = path.stem if path.suffix.lower() in (".md", ".txt") else path.name
                parts = (*path.relative_to(folder).parts[:-1], name)
                yield path, ":".join(readers.encoded(p).replace(":", "%3A") for p in parts), text


def _markdown(path: Path, text: str, options: Options, log: Log) -> dict:
    """Return title, text and known fields of a page."""
    broken: list[str] = []
    fields, rest = files.front_matter(path, text, broken) or ({}, text)
    if broken:
        log.leave("front matters that are not YAML fields, kept as text", f"{path}:2")
    else:
        text = rest
    form = files.schema("page")
    known = {name: value for name, value in fields.items() if form.fits(name, value)}
    used = f"{options.title},{options.text}".split(",")
    for name in sorted(fields.keys() - known.keys() - {*used}):
        wanted = form.wanted(name) if name in form.fields else "no such field"
        log.leave(f"front-matter field {name} ({wanted})", f"{path}:2")
    given = {**fields, "body": text}
    title, body = readers.title_and_text(f"{path}:1", given, "", "", options, log)
    known |= {"title": title} if title else {}
    heading = _heading(text)
    if "title" not in known and heading:
        line = heading[1].strip()
        bare = line.rstrip("#")  # those of a word (C#) stay
        known["title"] = bare.rstrip() if bare[-1:].isspace() else line
        rest = text[heading.end() :]
        if not text[: heading.start()].strip() and rest.strip():
            text = rest  # the heading is the title now; both would count its words twice
    return {"title": path.stem, **known, "text": body or text.strip("\n")}


def _heading(text: str) -> re.Match | None:
    """Return the first heading (`# Title` or `Title` over ===) that stands in no code block."""
    fences = [m.span() for m in re.finditer(r"^(```|~~~).*?(?:^\1|\Z)", text, re.M | re.S)]
    headings = re.finditer(
        r"^(?:#{1,6}[ \t]+(?=\S)|(?=\S.*\n=+[ \t]*$))(.+)(?:\n=+[ \t]*$)?", text, re.M
    )
    return next((m for m in headings if not any(m.start() in range(*f) for f in fences)), None)


def _plain(path: Path, text: str) -> dict:
    first, _, rest = text.strip().partition("\n")
    if len(first) <= 100 and rest.strip():
        return {"title": first.strip(), "text": rest.strip("\n")}
    return {"title": path.stem, "text": text.strip("\n")}


def _code(options: Options, log: Log) -> Iterator[tuple[str, dict]]:
    for path, doc_id, text in tree(options, CODE_FILES, log, VENDORED | BUILT):
        if GENERATED.search(path.name) or MADE.search(text[:1000]) or LONG_LINE.search(text):
            log.leave("generated files", str(path))
            continue
        if path.suffix.lower() in (".py", ".pyi"):
            try:
                yield from _python(path, text, doc_id, log)
                continue
            except (SyntaxError, ValueError, RecursionError):
                log.changed["Python files that do not parse, taken whole"] += 1
        title = path.relative_to(options.path).as_posix()
        yield f"{path}:1", {"doc_id": doc_id, "title": title, "text": text.strip("\n")}


def _python(path: Path, text: str, name: str, log: Log) -> Iterator[tuple[str, dict]]:
    """Yield a module's units. Each line belongs to the innermost of them: nothing stands twice."""
    module, lines = ast.parse(text), text.split("\n")
    owners: list = [module] * len(lines)
    units = [(path.stem, module), *_units(module, "")]
    for _, node in units[1:]:
        start = min([node.lineno, *(part.lineno for part in node.decorator_list)]) - 1
        owners[start : node.end_lineno] = [node] * (node.end_lineno - start)
    seen: Counter[str] = Counter()
    for qualified, node in units:
        own = [number for number, owner in enumerate(owners) if owner is node]
        if node is module and all(isinstance(part, NOT_BODY) for part in node.body):
            log.leave("module bodies of imports alone", f"{path}:1")
            continue
        doc_id = name if node is module else f"{name}:{qualified}"
        seen[doc_id] += 1
        doc_id += f"~{seen[doc_id]}" if seen[doc_id] > 1 else ""  # overloads, setters
        title = (ast.get_docstring(node) or "").split("\n")[0] or qualified
        body = textwrap.dedent("\n".join(lines[number] for number in own)).strip("\n")
        place = f"{path}:{own[0] + 1 if own else 1}"
        yield place, {"doc_id": doc_id, "title": title, "text": body}


DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
NOT_BODY = (*DEFINITIONS, ast.Import, ast.ImportFrom)


def _units(parent: ast.AST, prefix: str) -> Iterator[tuple[str, ast.AST]]:
    """Yield (qualified name, node) of functions, classes and methods, outer ones first."""
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, DEFINITIONS):
            yield prefix + node.name, node
            if isinstance(node, ast.ClassDef):
                yield from _units(node, f"{prefix}{node.name}.")
        elif isinstance(node, (ast.If, ast.Try, ast.ExceptHandler, ast.With)):
            yield from _units(node, prefix)
