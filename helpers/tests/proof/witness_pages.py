"""How the second witness compares: numbers, prose and tables of the published pages.

A table is compared cell by cell. Of prose the sentences with a number are compared as they are.
"""

import json
import re
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pandas as pd

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "evals"
NUMBER = r"(?<![\w@])(?<![\w.]-)[+-]?\d+(?:,\d{3})*(?:\.\d+)?(?: ?%)?(?![\w-])"  # not @10, k1, q01


def page_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def notebook_cells() -> dict[str, list[str]]:
    """Return {cell id: texts of its outputs} of every notebook, and the words of its pictures.

    Of an output it's the Markdown, else the HTML, else plain text.
    """
    texts = {}
    for path in [*(ROOT / "notebooks").rglob("*.ipynb"), *FOLDER.glob("*.ipynb")]:
        for cell in json.loads(page_of(path))["cells"]:
            own = texts.setdefault(cell["id"], [])
            for output in cell.get("outputs", []):
                data = output.get("data", {})
                text = data.get("text/markdown") or data.get("text/html") or output.get("text", "")
                words = output.get("metadata", {}).get("image/png", {}).get("alt", "")
                own.append("".join(text) + words)
    return texts


def says(text: str, *sentences: str) -> str:
    """Check that sentences, or parts of them, stand in a text as they are; return what is left."""
    for sentence in sentences:
        pattern = rf"(?<![\d.]){re.escape(sentence)}(?!\.?\d)"
        assert re.search(pattern, text), (sentence, "does not stand in", text)
        text = re.sub(pattern, "", text)
    return text


def tells(text: str, *sentences: str) -> None:
    """Check that sentences stand in a text, and that they have all of its numbers."""
    left = says(text.replace("**", ""), *sentences)
    assert not re.findall(NUMBER, left.replace("95 %", "")), left


def markdown_tables(page: str) -> list[dict]:
    """Return {row: {column: text}} of each table of a Markdown page."""
    tables = []
    for lines in re.findall(r"(?:^\|.*\n?)+", page, re.MULTILINE):
        head, _, *body = ([c.strip() for c in line[1:-1].split("|")] for line in lines.splitlines())
        tables.append({row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in body})
    return tables


def html_table(*outputs: str) -> dict[str, dict[str, str]]:
    """Return the first table as {row: {column: text}}; names of a head of two lines are joined."""
    table = re.search("<table.*?</table>", "".join(outputs), re.DOTALL)[0]
    root, head, rows, names = ElementTree.fromstring(table), [], {}, []
    for line in root.findall("thead/tr"):
        spread = [[c.text or ""] * int(c.get("colspan", 1)) for c in line]
        head.append([text for cell in spread for text in cell])
    head = [" ".join(filter(None, column)) for column in zip(*head, strict=True)]
    for line in root.findall("tbody/tr"):
        own = ["".join(cell.itertext()) for cell in line.findall("th")]
        names = names[: len(names) - len(own)] + own  # one that spans rows stands in the first
        texts = ["".join(cell.itertext()) for cell in line.findall("td")]
        rows[" ".join(names)] = dict(zip(head[len(names) :], texts, strict=True))
    return rows


def same_table(shown: dict[str, dict], wanted: dict[str, dict]) -> None:
    """Compare whole tables; what is wanted in a cell is a text or a whole number."""
    assert shown.keys() == wanted.keys()
    for row, columns in wanted.items():
        assert shown[row].keys() == columns.keys()
    has_rows(shown, wanted)


def has_rows(shown: dict[str, dict], wanted: dict[str, dict]) -> None:
    """Check that a table has the wanted cells."""
    for row, columns in wanted.items():
        for column, value in columns.items():
            assert shown[row][column] == str(value), (row, column, shown[row][column], value)


def read_json(name: str):
    return json.loads(page_of(FOLDER / name))


class Five(NamedTuple):
    """How many queries there are and find something in five; the same of full answers."""

    n: int
    useful: float
    n_full: int
    full: float


def five(scores: pd.DataFrame, split: str) -> Five:
    """Count the queries of a half, or of all, by what is published of each."""
    rows = scores[scores["split"].isin([split]) | (split == "all")]
    full = rows["full hit@5"].dropna()
    return Five(len(rows), rows["hit@5"].sum(), len(full), full.sum())
