"""The lessons, the write-up and the pages as a static site: no code runs, nothing is requested."""

import re
from html import escape
from pathlib import Path

import nbformat
from nbformat.v4 import new_markdown_cell, new_notebook

from .. import files, report, workbook
from ..learn.exercises import read_notebook
from ..workbook import ROOT

SITE = ROOT / "site"
LINKED = re.compile(r"\[([^\[\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
LOCAL = re.compile(r'href="#to:([\w-]+\.html)((?:#[\w-]+)?)"')  # in a page that was cleaned
OF_THE_SET = re.compile(r'<a href="\w+\.(?:md|jsonl?)">(.*?)</a>')  # files beside the write-up
LOOK = """<style>
main { display: block; max-width: 46rem; } pre { font-size: .8rem; line-height: 1.4; }
table { display: block; overflow-x: auto; } th, td { text-align: left; }
.highlight pre { border-left: 3px solid var(--line, #d8dde3); padding-left: .7rem; }
</style></head>"""
BAR = "margin: 0 auto; max-width: 46rem; padding: .8rem 1.1rem; font-size: .85rem"


def write_site(folder: Path = SITE) -> Path:
    """Write a page for each source and an index, in place of `folder`; return the index."""
    names = pages_by_source()
    books, sources = {path: notebook_of(path) for path in names}, [*names]
    first_lines = {path: book.cells[0].source.splitlines()[0] for path, book in books.items()}
    titles = {path: line.lstrip("# ") for path, line in first_lines.items()}
    pages = {}
    for number, path in enumerate(sources):
        links = {"index.html": "Contents"}
        beside = [near for near in sources[max(number - 1, 0) : number + 2] if near != path]
        links |= {names[near]: titles[near] for near in beside}
        pages[names[path]] = site_page(books[path], path, links)
    head = files.page(ROOT / "README.md").partition("\n## ")[0]
    head = re.sub(r"^\[!\[.*\n", "", head, flags=re.MULTILINE)  # the picture is a page here
    listed = "\n".join(f"- [{titles[path]}]({path.relative_to(ROOT).as_posix()})" for path in names)
    pages["index.html"] = site_page(_as_notebook(f"{head}\n\n{listed}\n"), ROOT / "README.md", {})
    with files.new_folder(folder) as part:
        for name, page in pages.items():
            files.write(part / name, page)
    return folder / "index.html"


def pages_by_source() -> dict[Path, str]:
    """Return {source: file name of its page}, in the order of the index."""
    pages = sorted((ROOT / "notebooks").glob("*.md"))
    sources = [*workbook.NOTEBOOKS, *workbook.FURTHER, *pages]
    return {path: f"{path.stem}.html" for path in sources} | {
        ROOT / "evals" / "README.md": "data_card.html",
        ROOT / "notebooks" / "further" / "README.md": "further.html",
        ROOT / "evals" / "labeling_guide.md": "labeling_guide.html",
    }


def notebook_of(path: Path) -> nbformat.NotebookNode:
    """Return a notebook, or a Markdown page as one. Raises LearnError or EvalSetError."""
    return read_notebook(path) if path.suffix == ".ipynb" else _as_notebook(files.page(path))


def _as_notebook(text: str) -> nbformat.NotebookNode:
    return new_notebook(cells=[new_markdown_cell(text, id="page")])


def site_page(book: nbformat.NotebookNode, path: Path, links: dict[str, str]) -> str:
    """Return a source as a page of the site, below `links` to others: {file name: words}.

    The write-up hides its code; a lesson is its code.
    """
    names, cells = pages_by_source(), []
    for cell in book.cells:
        if cell.cell_type == "markdown":
            source = re.sub(r"</?details>", "", cell.source)  # a hint is open beside its solution
            source = re.sub(r"<summary>(.*?)</summary>", r"*\1*", source)
            source = LINKED.sub(lambda link: _new_link(link, path, names), source)
            cell = new_markdown_cell(source, id=cell.id, metadata=cell.metadata)
        elif path != workbook.WRITE_UP:
            code = f"````python\n{cell.source}\n````"
            cells.append(new_markdown_cell(code, id=f"code-of-{cell.id}"))
        cells.append(cell)
    page = report.html(new_notebook(cells=cells, metadata=book.metadata))
    page = LOCAL.sub(lambda m: f'href="{m[1]}{m[2]}"' if m[1] in names.values() else m[0], page)
    page = OF_THE_SET.sub(r"\1", page)
    page = page if path == workbook.WRITE_UP else page.replace("</head>", LOOK, 1)
    bar = " · ".join(f'<a href="{name}">{escape(words)}</a>' for name, words in links.items())
    return page.replace("<body>", f'<body>\n<nav style="{BAR}">{bar}</nav>', 1) if bar else page


def _new_link(link: re.Match, path: Path, names: dict[Path, str]) -> str:
    """Return a link to a page of the site, or the link as it is: cleaned, it leads nowhere."""
    words, target, anchor = link.groups()
    name = names.get((path.parent / target).resolve())
    return f"[{words}](#to:{name}{anchor or ''})" if name else link[0]
