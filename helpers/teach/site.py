"""The course as pages to read and to search, built by Sphinx: nothing runs or asks the network.

Here the notebooks are cut into parts and their outputs cleaned; how it looks stands in sphinx/.
"""

import os
import re
import shutil
import subprocess
import tempfile
from base64 import b64encode
from html import escape
from pathlib import Path

import nbformat
from nbconvert.filters import markdown2html
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from ..measure import evalset, files, inert, report
from . import LearnError, copies, exercises, try_it, workbook
from .exercises import LESSONS
from .workbook import ROOT

SITE, SPHINX = ROOT / "site", ROOT / ".cache" / "sphinx"
PYTHON = SPHINX / ("Scripts" if os.name == "nt" else "bin") / "python"
HERE = Path(__file__).with_name("sphinx")
PART = re.compile(r"^(?=## (?:\d+\. |Quick test$))", re.MULTILINE)
TOLD = re.compile(r"^ *(?:predict|truth|check\.quiz)\(", re.MULTILINE)  # answers follow
MARKER = re.compile(r"^ *### (?:BEGIN|END) SOLUTION\n?", re.MULTILINE)
LINK = re.compile(r"!?\[([^\[\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
MENDED = {  # of the theme's and MyST-NB's markup, what a screen reader would miss or misread
    ' aria-label="Toggle hidden content"': "",  # its own words say what it shows
    'pst-js-only" title="Search" aria-label="Search"': 'pst-js-only" title="Search"',
    '<summary><span class="toc': '<summary aria-label="Parts"><span class="toc',
    'id="pst-primary-sidebar"': 'id="pst-primary-sidebar" role="navigation" aria-label="Course"',
    "<th></th>": "<td></td>",
    '<th class="head"><p></p></th>': "<td></td>",
}
BESIDE = re.compile(r'<a href="\w+\.(?:md|jsonl?)">(.*?)</a>')  # files of the set, in its outputs


def write_site(folder: Path = SITE) -> Path:
    """Build the pages in place of `folder` and return the index.

    Raises LearnError or EvalSetError.
    """
    evals = evalset.load(evalset.DEFAULT)
    pages = site_pages(evals)
    if not (SPHINX / "ready").exists():
        raise LearnError("Sphinx is missing: make site sets it up; without make see installing.md")
    with tempfile.TemporaryDirectory() as scratch, files.new_folder(folder) as part:
        sources, built, trees = (Path(scratch, name) for name in ("sources", "site", "trees"))
        for path, page in pages.items():
            files.write(sources / path.relative_to(ROOT), page)
        words = ["-c", HERE, "-d", trees, "-q", "-W", "--keep-going"]
        subprocess.run([PYTHON, "-I", "-m", "sphinx", *words, sources, built], check=True)
        for path in built.rglob("*.html"):
            files.write(path, mended(files.page(path)))
        searched = try_it.search_script(evals)
        files.write(built / "_static" / "try_data.js", searched)
        shutil.copytree(built, part, dirs_exist_ok=True)
        if folder.is_dir():
            shutil.rmtree(folder)  # the former pages
    return folder / "index.html"


def mended(page: str) -> str:
    """Return a page that Sphinx built with better markup."""
    for wrong, right in MENDED.items():
        page = page.replace(wrong, right)
    return page


def site_pages(evals: evalset.EvalSet) -> dict[Path, str]:
    """Return {path: Markdown or notebook}, a page each. Raises LearnError."""
    further, cards = LESSONS / "further" / "README.md", ("README.md", "labeling_guide.md")
    texts = [*LESSONS.glob("*.md"), further, *(ROOT / "evals" / name for name in cards)]
    inside = {*workbook.NOTEBOOKS, *workbook.FURTHER, *texts}
    beyond = copies.with_new_links(files.page(further), further.parent, ROOT, set())
    first = prose(f"{files.page(ROOT / 'README.md')}\n#{beyond}", ROOT, inside)
    trial = ROOT / "try.md"  # the README's picture leads to the page that it shows
    first = first.replace("](notebooks/session_a_corpus_and_labels.ipynb)", f"]({trial.name})", 1)
    pages = {ROOT / "index.md": first + files.page(HERE / "contents.md")}
    pages[trial] = try_it.page(evals)
    pages |= {path: prose(files.page(path), path.parent, inside) for path in texts}
    stubs = copies.copies_of_lessons(LESSONS, LESSONS)
    for path in inside.difference(texts):
        notebook = exercises.read_notebook(path)
        copy = stubs.get(os.path.relpath(path, LESSONS).replace(os.sep, "/"), notebook)
        pages |= notebook_pages(notebook, copy, path, inside)
    return pages


def prose(page: str, home: Path, inside: set[Path]) -> str:
    """Return Markdown of `home`, pictures inside; a link to no page of the site is its words."""

    def link(match: re.Match) -> str:
        if match[0].startswith("!"):
            drawn = b64encode((home / match[2]).read_bytes()).decode()
            return f"![{match[1]}](data:image/png;base64,{drawn})"
        stays = match[2].startswith("https:") or (home / match[2]).resolve() in inside
        return match[0] if stays else match[1]

    return LINK.sub(link, page)


def notebook_pages(notebook, copy, path: Path, inside: set[Path]) -> dict[Path, str]:
    """Return {path: notebook}: a page a part, the first lists the others; `copy` has the stubs."""
    pages, folded = [[]], False
    for cell, stub in zip(notebook.cells, copy.cells, strict=True):
        if exercises.is_code(cell):
            folded = folded or bool(TOLD.search(cell.source))
            pages[-1] += code_cells(cell, stub.source, folded)
        else:
            folded = False
            first, *parts = PART.split(prose(stub.source, path.parent, inside))
            pages[-1].append(new_markdown_cell(first))
            pages += [[new_markdown_cell(part)] for part in parts]
    if pages[1:]:
        listed = f"```{{toctree}}\n:glob:\n\n{path.stem}_*\n```"
        pages[0].append(new_markdown_cell(listed))
    looks = {"mystnb": {"remove_code_source": path == workbook.WRITE_UP}} | notebook.metadata
    books = [nbformat.writes(new_notebook(cells=cells, metadata=looks)) for cells in pages]
    names = [path, *(path.with_stem(f"{path.stem}_{n}") for n in range(1, len(pages)))]
    return dict(zip(names, books, strict=True))


def code_cells(cell, stub: str, folded: bool) -> list:
    """Return a cell as it is shown: outputs cleaned, a solution folded below its stub."""
    if exercises.is_solution(cell):
        looks = {"tags": ["hide-input"], "mystnb": {"code_prompt_show": "Show a solution"}}
        return [new_code_cell(stub), new_code_cell(MARKER.sub("", cell.source), metadata=looks)]
    outputs = [clean_output(output) for output in cell.outputs]
    tags = ["hide-output"] if folded and outputs else []
    hidden = cell.metadata.get("jupyter", {}).get("source_hidden")
    if hidden or "given" in cell.metadata.get("tags", []):  # it stands in a session, too
        tags.append("hide-input")
    looks = {"tags": tags}
    return [new_code_cell(cell.source, outputs=outputs, metadata=looks)]


def clean_output(output):
    """Return an output in which no text of a set acts; a picture has its words."""
    data = output.get("data", {})
    if "text/markdown" in data:
        data["text/html"] = report.with_ticks(markdown2html(data["text/markdown"]))
    if "image/png" in data:
        alt = escape(output.metadata["image/png"]["alt"])  # Sphinx would leave it out
        data["text/html"] = f'<img alt="{alt}" src="data:image/png;base64,{data["image/png"]}">'
    if "text/html" in data:
        data["text/html"] = BESIDE.sub(r"\1", inert.clean(data["text/html"]))
        data["text/html"] = data["text/html"].replace("h4>", "h3>")  # a part's page begins with h1
    for kind in data.keys() - {"text/html", "text/plain"}:
        del data[kind]
    return output
