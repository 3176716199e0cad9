"""The lessons, the write-up and the pages as a static site: no code runs, nothing is requested."""

import copy
import re
from html import escape
from pathlib import Path

import nbformat

from .. import evalset, files, report, workbook
from ..learn.exercises import read_notebook
from ..workbook import ROOT

SITE = ROOT / "site"
LINKED = re.compile(r"\[([^\[\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
LOCAL = re.compile(r'href="#to:([\w-]+\.html)((?:#[\w-]+)?)"')  # in a page that was cleaned
LOOK = """<style>
main { display: block; max-width: 46rem; } pre { font-size: .8rem; line-height: 1.4; }
table { display: block; overflow-x: auto; } th, td { text-align: left; }
.highlight pre { border-left: 3px solid var(--line, #d8dde3); padding-left: .7rem; }
</style></head>"""
OF_THE_SET = re.compile(r'<a href="(\w+\.(?:md|jsonl?))">(.*?)</a>')  # files of the set
BAR = "margin: 0 auto; max-width: 46rem; padding: .8rem 1.1rem; font-size: .85rem"


def pages_by_source() -> dict[Path, str]:
    """Return {source: file name of its page}, in the order of the index."""
    pages = sorted((ROOT / "notebooks").glob("*.md"))
    data = {ROOT / "evals" / "README.md": "data_card.html"}
    data[ROOT / "notebooks" / "further" / "README.md"] = "further.html"
    data[ROOT / "evals" / "labeling_guide.md"] = "labeling_guide.html"
    return {
        path: f"{path.stem}.html" for path in (*workbook.NOTEBOOKS, *workbook.FURTHER, *pages)
    } | data


def write_site(folder: Path = SITE) -> Path:
    """Write a page for each source and an index, in place of `folder`; return the index."""
    names = pages_by_source()
    books = {path: notebook_of(path) for path in names}
    titles = {path: heading(book) for path, book in books.items()}
    made = {}
    for number, (path, book) in enumerate(books.items()):
        around = [*names][max(number - 1, 0) : number + 2]
        links = {"index.html": "Contents"}
        links |= {names[near]: titles[near] for near in around if near != path}
        made[names[path]] = site_page(book, path, links)
    head = files.page(ROOT / "README.md").partition("\n## ")[0]
    head = re.sub(r"^\[!\[.*\n", "", head, flags=re.MULTILINE)  # the picture is a page here
    listed = "\n".join(f"- [{titles[path]}]({path.relative_to(ROOT).as_posix()})" for path in names)
    index = as_notebook(f"{head}\n\n{listed}\n")
    made["index.html"] = site_page(index, ROOT / "README.md", {})
    with files.new_folder(folder) as part:
        for name, page in made.items():
            files.write(part / name, page)
    return folder / "index.html"


def notebook_of(path: Path) -> nbformat.NotebookNode:
    """Return a notebook, or a Markdown page as one. Raises LearnError or EvalSetError."""
    book = read_notebook(path) if path.suffix == ".ipynb" else as_notebook(files.page(path))
    if not (book.cells and book.cells[0].source.strip()):
        raise evalset.EvalSetError([f"{path}: found nothing, wanted a heading"])
    return book


def as_notebook(text: str) -> nbformat.NotebookNode:
    """Return a notebook whose one cell is `text`."""
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text, id="page")])


def heading(book: nbformat.NotebookNode) -> str:
    """Return the first line of a notebook."""
    return book.cells[0].source.splitlines()[0].lstrip("# ")


def site_page(book: nbformat.NotebookNode, path: Path, links: dict[str, str]) -> str:
    """Return a source as a page of the site, below `links` to others: {file name: words}.

    The write-up hides its code; a lesson is its code.
    """
    shown = copy.deepcopy(book)
    shown.cells = [part for cell in shown.cells for part in _as_shown(cell, path)]
    made = report.html(shown)
    made = LOCAL.sub(
        lambda m: f'href="{m[1]}{m[2]}"' if m[1] in pages_by_source().values() else m[0], made
    )
    made = OF_THE_SET.sub(lambda m: _beside(m, path), made)
    if path != workbook.WRITE_UP:
        made = made.replace("</head>", LOOK, 1)
    bar = " · ".join(f'<a href="{name}">{escape(words)}</a>' for name, words in links.items())
    return made.replace("<body>", f'<body>\n<nav style="{BAR}">{bar}</nav>', 1) if bar else made


def _beside(link: re.Match, path: Path) -> str:
    """Return a link to a file beside the source as one to its page, or as words."""
    target, words = link.groups()
    name = pages_by_source().get((path.parent / target).resolve())
    return f'<a href="{name}">{words}</a>' if name else words


def _as_shown(cell: nbformat.NotebookNode, path: Path) -> list[nbformat.NotebookNode]:
    """Return a cell as what is shown of it: text with links within the site, or code and output."""
    if cell.cell_type == "markdown":
        source = re.sub(r"</?details>", "", cell.source)  # a hint is open beside its solution
        source = re.sub(r"<summary>(.*?)</summary>", r"*\1*", source)
        cell.source = LINKED.sub(lambda link: _relinked(link, path), source)
        return [cell]
    if path == workbook.WRITE_UP:
        return [cell]
    code = f"````python\n{cell.source}\n````"
    return [nbformat.v4.new_markdown_cell(code, id=f"code-of-{cell.id}"), cell]


def _relinked(link: re.Match, path: Path) -> str:
    """Return a link to a page of the site, or the link as it is: cleaned, it leads nowhere."""
    words, target, anchor = link.groups()
    name = pages_by_source().get((path.parent / target).resolve())
    return f"[{words}](#to:{name}{anchor or ''})" if name else link[0]
