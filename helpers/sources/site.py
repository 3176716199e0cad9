"""The course as pages to read and to search, built by Sphinx: nothing runs or asks the network.

Here the notebooks are cut into parts and their outputs cleaned; how it looks stands in sphinx/.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
from nbconvert.filters import markdown2html
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from .. import files, report, text, workbook
from ..learn import LearnError, copies, exercises
from ..workbook import ROOT

SITE, SPHINX = ROOT / "site", ROOT / ".cache" / "sphinx"
HERE = Path(__file__).parent / "sphinx"
PART = re.compile(r"^(?=## (?:\d+\. |Quick test$))", re.MULTILINE)
PREDICTED = re.compile(r"^predict\(", re.MULTILINE)
MARKER = re.compile(r"^ *### (?:BEGIN|END) SOLUTION\n", re.MULTILINE)
ANCHOR = re.compile(r'^<a id="[\w-]+"></a>\n', re.MULTILINE)  # Sphinx makes its own of a heading
LINK = re.compile(r"!?\[([^\[\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
BESIDE = re.compile(r'<a href="\w+\.(?:md|jsonl?)">(.*?)</a>')  # files of the set, in its outputs
SHOWN = ("image/png", "text/html", "text/plain")
CONTENTS = "```{{toctree}}\n{options}\n\n{names}\n```\n"

MISSING = """Sphinx is missing: make site sets it up; without make, once:
python helpers/install.py .cache/sphinx helpers/sources/sphinx/requirements.txt"""


def write_site(folder: Path = SITE) -> Path:
    """Build the pages in place of `folder` and return the index. Raises LearnError."""
    pages = site_pages()
    python = SPHINX / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    if not (SPHINX / "ready").exists():
        raise LearnError(MISSING)
    with files.new_folder(folder) as part, tempfile.TemporaryDirectory() as scratch:
        for name, page in pages.items():
            files.write(Path(scratch, "pages", name), page)
        words = ["-q", "-W", "--keep-going", "-c", HERE, "-d", Path(scratch, "trees")]
        command = [python, "-m", "sphinx", *words, Path(scratch, "pages"), part]
        subprocess.run(command, check=True)
    return folder / "index.html"


def site_pages() -> dict[str, str]:
    """Return {name below the root: Markdown or notebook}. Raises LearnError or EvalSetError."""
    further = ROOT / "notebooks" / "further" / "README.md"
    listed = files.page(further)
    groups = {
        "The week": workbook.NOTEBOOKS,
        "Going further": [further, *sorted(workbook.FURTHER, key=lambda p: listed.find(p.name))],
        "Pages": [
            *sorted((ROOT / "notebooks").glob("*.md")),
            *(ROOT / "evals" / name for name in ("README.md", "labeling_guide.md")),
        ],
    }
    sources = {path for paths in groups.values() for path in paths}
    pages = {"index.md": index_page(groups, sources)}
    for path in sources:
        name = path.relative_to(ROOT).as_posix()
        if path.suffix == ".md":
            pages[name] = prose(files.page(path), path, sources)
        else:
            pages |= notebook_pages(name, exercises.read_notebook(path), sources)
    return pages


def index_page(groups: dict[str, list[Path]], sources: set[Path]) -> str:
    """Return the first page: what each session and further notebook takes, and all contents."""
    readme, further = ROOT / "README.md", groups["Going further"][0]
    head, *sections = re.split(r"^## ", files.page(readme), flags=re.MULTILINE)
    head = re.sub(r"^\[!\[.*\n", "", head, flags=re.MULTILINE)  # the picture is a page here
    wanted = ("The week at a glance", "Where to go next")
    week, pages = (s for s in sections if s.startswith(wanted))
    beyond = files.page(further).partition("\n")[2]
    beyond = copies.with_new_links(beyond, further.parent, ROOT, set())
    parts = [prose(t, readme, sources) for t in (head, week, pages, f"Going further\n{beyond}")]
    listed = [
        CONTENTS.format(
            options=f":hidden:\n:caption: {caption}",
            names="\n".join(p.relative_to(ROOT).with_suffix("").as_posix() for p in paths),
        )
        for caption, paths in groups.items()
    ]
    return "\n".join(["## ".join(parts), *listed])


def notebook_pages(name: str, notebook, sources: set[Path]) -> dict[str, str]:
    """Return {name: notebook}: a page a part, and the first lists the others."""
    path, folded = ROOT / name, False
    for exercise in exercises.exercises_of(name.removeprefix("notebooks/"), notebook):
        exercises.number_heading(notebook.cells[exercise.heading], exercise)
    pages: list[list] = [[]]
    for cell in notebook.cells:
        if exercises.is_code(cell):
            folded = folded or bool(PREDICTED.search(cell.source))
            pages[-1] += code_cells(cell, folded, path == workbook.WRITE_UP)
        else:
            folded = False
            first, *parts = PART.split(prose(cell.source, path, sources))
            pages[-1].append(new_markdown_cell(first))
            pages += [[new_markdown_cell(part)] for part in parts]
    stems = [path.stem, *(f"{path.stem}_{n}" for n in range(1, len(pages)))]
    if stems[1:]:
        listed = CONTENTS.format(options=":maxdepth: 1", names="\n".join(stems[1:]))
        pages[0].append(new_markdown_cell(listed))
    return {
        f"{Path(name).parent.as_posix()}/{stem}.ipynb": nbformat.writes(
            new_notebook(cells=cells, metadata=notebook.metadata)
        )
        for stem, cells in zip(stems, pages, strict=True)
    }


def prose(page: str, path: Path, sources: set[Path]) -> str:
    """Return Markdown that stands in `path`; of a link that leads out of the site the words stay."""

    def inside(link: re.Match) -> str:
        words, target, anchor = link.groups()
        leads_to = (path.parent / target).resolve()
        if leads_to == ROOT / "README.md":
            return f"[{words}](/index.md)"
        return link[0] if leads_to in sources or target.startswith("https:") else words

    return LINK.sub(inside, ANCHOR.sub("", page))


def code_cells(cell, folded: bool, hidden: bool) -> list:
    """Return a cell as it is shown: outputs cleaned, a solution folded below its stub."""
    tags = ["hide-output"] * folded + ["remove-input"] * hidden
    outputs = [clean_output(output) for output in cell.outputs]
    if not exercises.is_solution(cell):
        return [new_code_cell(cell.source, outputs=outputs, metadata={"tags": tags})]
    words = {"tags": ["hide-input"], "mystnb": {"code_prompt_show": "Show a solution"}}
    answer = MARKER.sub("", cell.source)
    stub = new_code_cell(copies.with_stubs(cell))
    return [stub, new_code_cell(answer, outputs=outputs, metadata=words)]


def clean_output(output):
    """Return an output in which no text of a set acts: what is shown is text, tables, pictures."""
    data = output.get("data", {})
    if "text/markdown" in data:
        data["text/html"] = report.with_ticks(markdown2html(data["text/markdown"]))
    if "text/html" in data:
        data["text/html"] = BESIDE.sub(r"\1", text.clean(data["text/html"]))
    if data:
        output["data"] = {kind: data[kind] for kind in SHOWN if kind in data}
    return output
