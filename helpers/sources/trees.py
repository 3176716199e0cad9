"""Readers of file trees: Markdown, plain text, source code. They find documents and no labels."""

import ast
import os
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from .. import files
from .readers import Asked, Log, Source, chosen, folder_of, safe

# A document's id is its path below the folder, with : for /.

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
LONGEST_LINE = 5_000  # characters; nobody writes a longer line of code by hand
PAGES = {".md": "", ".markdown": ".markdown", ".mdx": ".mdx"}  # suffix: what the id keeps of it
TEXTS = {".txt": "", ".text": ".text", ".rst": ".rst", ".adoc": ".adoc", ".log": ".log"}
CODE_FILES = (
    ".py .pyi .js .jsx .mjs .ts .tsx .java .kt .scala .go .rs .c .h .cc .cpp .hpp .cs .swift .m "
    ".rb .php .pl .lua .r .jl .hs .ml .ex .exs .erl .clj .sh .bash .ps1 .sql .tf .proto .vue .dart"
).split()


def tree(
    folder: Path, suffixes: Iterable[str], log: Log, skip: Iterable[str] = VENDORED
) -> Iterator[tuple[Path, str]]:
    """Yield (path, text) of the files below `folder` with one of `suffixes`, in a fixed order.

    Hidden and vendored folders, binary files and links are left out and counted.
    """
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
            if path.suffix.lower() not in suffixes:
                log.leave("files of another type", str(path))
            elif path.is_symlink():
                log.leave("links", str(path))
            elif files.HALF.search(str(path)):
                shown = str(path).encode("utf-8", "backslashreplace").decode()
                log.leave("files whose names are not UTF-8", shown)
            else:
                text = _read_text(path, log)
                if text is not None:
                    yield path, text


def _read_text(path: Path, log: Log) -> str | None:
    if files.irregular(path):
        return log.leave("FIFOs, sockets and devices", str(path))
    if path.stat().st_size > files.LONGEST:
        return log.leave(f"files over {files.LONGEST:,} bytes", str(path))
    with path.open("rb") as file:
        if b"\0" in file.read(8192):
            return log.leave("binary files", str(path))
    return files.page(path, partial(log.leave, "files that are not UTF-8"))


def path_id(path: Path, folder: Path, ending: str = "") -> str:
    """Return a file's path below `folder` as an id: : for /, `ending` for the suffix."""
    parts = path.relative_to(folder).parts
    name = parts[-1].removesuffix(path.suffix) + ending
    return ":".join(safe(part).replace(":", "%3A") for part in (*parts[:-1], name))


def markdown_tree(asked: Asked, log: Log) -> Source:
    """Read a tree of Markdown files: front matter is optional, the first heading is the title."""
    folder = folder_of(asked)
    return Source(
        (f"{path}:1", _markdown(path, folder, text, asked, log))
        for path, text in tree(folder, PAGES, log)
    )


def _markdown(path: Path, folder: Path, text: str, asked: Asked, log: Log) -> dict:
    doc_id = path_id(path, folder, PAGES[path.suffix.lower()])
    broken: list[str] = []
    fields, rest = files.front_matter(path, text, broken.append) or ({}, text)
    if broken:
        log.leave("front matters that are not YAML fields, kept as text", f"{path}:2")
    else:
        text = rest
    form = files.schema("page")
    known = {name: value for name, value in fields.items() if form.fits(name, value)}
    used = f"{asked.title},{asked.text}".split(",")
    for name in sorted(fields.keys() - known.keys() - {*used}):
        wanted = form.wanted(name) if name in form.fields else "no such field"
        log.leave(f"front-matter field {name} ({wanted})", f"{path}:2")
    title, body = chosen(f"{path}:1", {**fields, "body": text}, "", "", asked, log)
    known |= {"title": title} if title else {}
    heading = _heading(text)
    if "title" not in known and heading:
        known["title"] = _unclosed(heading[1].strip())
        rest = text[heading.end() :]
        if not text[: heading.start()].strip() and rest.strip():
            text = rest  # the heading is the title now; both would count its words twice
    return {"doc_id": doc_id, "title": path.stem, **known, "text": body or text.strip("\n")}


def _unclosed(heading: str) -> str:
    """Return a heading without the #s that close it; those of a word (C#) stay."""
    bare = heading.rstrip("#")
    return bare.rstrip() if bare[-1:].isspace() else heading


def _heading(text: str) -> re.Match | None:
    """Return the first heading (`# Title` or `Title` over ===) that stands in no code block."""
    fences = [m.span() for m in re.finditer(r"^(```|~~~).*?(?:^\1|\Z)", text, re.M | re.S)]
    found = re.finditer(
        r"^(?:#{1,6}[ \t]+(?=\S)|(?=\S.*\n=+[ \t]*$))(.+)(?:\n=+[ \t]*$)?", text, re.M
    )
    return next((m for m in found if not any(m.start() in range(*f) for f in fences)), None)


def text_tree(asked: Asked, log: Log) -> Source:
    """Read a tree of text files; the first line is the title where it is short."""
    folder = folder_of(asked)
    return Source(
        (
            (f"{path}:1", _plain(path, text, path_id(path, folder, TEXTS[path.suffix.lower()])))
            for path, text in tree(folder, TEXTS, log)
        )
    )


def _plain(path: Path, text: str, doc_id: str) -> dict:
    first, _, rest = text.strip().partition("\n")
    if len(first) <= 100 and rest.strip():
        return {"doc_id": doc_id, "title": first.strip(), "text": rest.strip("\n")}
    return {"doc_id": doc_id, "title": path.stem, "text": text.strip("\n")}


def code_tree(asked: Asked, log: Log) -> Source:
    """Read a source tree: Python by function, method and class, other languages by file."""
    return Source(_code(folder_of(asked), log))


def _code(folder: Path, log: Log) -> Iterator[tuple[str, dict]]:
    for path, text in tree(folder, CODE_FILES, log, VENDORED | BUILT):
        longest = max(map(len, text.split("\n")))
        if GENERATED.search(path.name) or MADE.search(text[:1000]) or longest > LONGEST_LINE:
            log.leave("generated files", str(path))
            continue
        name = path_id(path, folder, path.suffix)
        if path.suffix.lower() in (".py", ".pyi"):
            try:
                yield from _python(path, text, name, log)
                continue
            except (SyntaxError, ValueError, RecursionError):
                log.changed["Python files that do not parse, taken whole"] += 1
        title = path.relative_to(folder).as_posix()
        yield f"{path}:1", {"doc_id": name, "title": title, "text": text.strip("\n")}


def _python(path: Path, text: str, name: str, log: Log) -> Iterator[tuple[str, dict]]:
    """Yield a module's units. Each line belongs to the innermost of them: nothing stands twice."""
    module, source = ast.parse(text), text.split("\n")
    owners: list = [module] * len(source)
    units = [(path.stem, module), *_units(module, "")]
    for _, node in units[1:]:
        start = min([node.lineno, *(part.lineno for part in node.decorator_list)]) - 1
        owners[start : node.end_lineno] = [node] * (node.end_lineno - start)
    seen: Counter[str] = Counter()
    for qualified, node in units:
        held = [i for i, owner in enumerate(owners) if owner is node]
        if node is module and all(isinstance(part, NOT_BODY) for part in node.body):
            log.leave("module bodies of imports alone", f"{path}:1")
            continue
        doc_id = name if node is module else f"{name}:{qualified}"
        seen[doc_id] += 1
        doc_id += f"~{seen[doc_id]}" if seen[doc_id] > 1 else ""  # overloads, setters
        title = (ast.get_docstring(node) or "").split("\n")[0] or qualified
        body = textwrap.dedent("\n".join(source[i] for i in held)).strip("\n")
        place = f"{path}:{held[0] + 1 if held else 1}"
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
