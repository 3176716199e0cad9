"""What all readers share: a task, the source that they return, ids, fields and splits."""

import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import NamedTuple
from urllib.parse import quote

from ..measure import files
from ..measure.files import EvalSetError, Row

SIDES = {  # of dev and test, in the order in which a split is chosen
    **dict.fromkeys(("dev", "validation", "valid", "val", "train"), "dev"),
    "test": "test",
}
WORDS = {  # ISO 639-1: the tokenizer that a language needs, see text.py; others are read in words
    **dict.fromkeys("zh ja th lo km my".split(), "bigrams"),
    **dict.fromkeys("bn hi te yo mr ne pa gu ta kn ml si".split(), "unicode-words"),
}
MOST_NAMES = 9  # that a line of what is left out shows
Paths = dict[str, list[Path]]  # of tables, by split or by what they hold


class Label(NamedTuple):
    """One judged pair, with its file:line; `evidence` is that of an evalset.Judgment."""

    place: str
    split: str
    query_id: str
    doc_id: str
    grade: str | int
    evidence: tuple[tuple[str, ...], ...] = ()


class Source(NamedTuple):
    """What a reader returns. Documents and queries are (place, row); they may be read lazily."""

    documents: Iterable[Row]
    queries: Iterable[Row] = ()
    labels: Iterable[Label] | None = None  # None: nobody has labelled this corpus
    splits: tuple[str, ...] = ()  # every split that the source offers
    words: str = "words"
    about: tuple[str, ...] = ()  # sentences for the data card


class Options(NamedTuple):
    """KIND:PATH and the options of the import command, whose help says what each does."""

    kind: str
    path: str
    split: str = ""
    max_docs: int = 0
    title: str = ""
    text: str = ""
    columns: str = ""
    queries: str = ""
    labels: str = ""
    sample: int = 0
    language: str = ""
    halve: bool = False


class Task:
    """One import: its options, what is wrong, what is left out and what is read differently."""

    def __init__(self, options: Options):
        self.options = options
        self.source = f"{options.kind}:{options.path}"
        self.problems: list[str] = []
        self.left: dict[str, tuple[int, str]] = {}  # reason: how often, first place
        self.names: dict[str, Counter[str]] = {}  # reason: how often each name
        self.changed: Counter[str] = Counter()
        self.absent: dict[str, str] = {}  # wanted field: the problem, "" once a row had it

    def leave_out(self, reason: str, place: str, name: str = "") -> None:
        """Count something that is left out, which may have a name."""
        count, first = self.left.get(reason, (0, place))
        self.left[reason] = count + 1, first
        if name:
            self.names.setdefault(reason, Counter())[name] += 1

    def expect(self, what: str, names: tuple[str, ...], place: str, row: dict, option: str) -> None:
        """Note a problem if no row has one of the named fields: the one of the first row."""
        problem = f"{place}: {missing_field(what, names, row, option)}"
        present = any(name in row for name in names)
        self.absent[what] = "" if present else self.absent.get(what, problem)

    def stop(self) -> None:
        """Raise EvalSetError if there were problems."""
        files.refuse([*self.problems, *filter(None, self.absent.values())])

    def lines(self) -> list[str]:
        """Return a line for each reason, with its count, first place and most frequent names."""
        lines = []
        for why, (n, place) in self.left.items():
            line = f"left out: {why}: {n}, first {place}"
            if names := self.names.get(why, Counter()).most_common(MOST_NAMES):
                line += f" ({', '.join(f'{name} {often}' for name, often in names)})"
            lines.append(line)
        return lines + [f"changed: {what}: {n}" for what, n in self.changed.items()]


def encode_id(name) -> str:
    """Return an id in which what would break files, or what nobody sees, is percent-encoded."""
    name = re.sub(r"[\s/\\#%]", lambda sign: quote(sign[0], safe=""), str(name))
    if files.is_id(name):
        return name
    return "".join(c if files.is_id(f"a{c}") else quote(c) for c in name)


def page_name(page: PurePath) -> str:
    """Return what names a page by its path in a folder: `:` for each /, no .md, .txt, .html."""
    last = page.stem if page.suffix.lower() in (".md", ".txt", ".html") else page.name
    return ":".join((*page.parts[:-1], last))


def id_of(
    place: str, row: dict, names: tuple[str, ...], task: Task, other: str | None = None
) -> str | None:
    """Return the first id under `names`, as text, else `other`; None notes a problem."""
    name = next((name for name in names if row.get(name) is not None), "")
    value = row.get(name, other)
    if type(value) in (str, int) and str(value).strip():
        return encode_id(str(value).strip())
    problem = missing_field("id", names, row, "--columns")
    if name:
        shown = json.dumps(value, ensure_ascii=False, default=str)[:60]
        problem = f"field {name} is {shown}, wanted an id: text or whole number"
    task.problems.append(f"{place}: {problem}")
    return None


def missing_field(what: str, names: tuple[str, ...], row: dict, option: str) -> str:
    """Return what is wrong with a row that has none of the named fields."""
    present = ", ".join(sorted(map(str, row))) or "nothing"
    return f"no {what}, found {present}, wanted one of: {', '.join(names)}; {option} names another"


def text_of(row: dict, *names: str) -> str:
    """Return the first of the named fields that holds text, stripped; "" if none does."""
    texts = (row[name].strip() for name in names if isinstance(row.get(name), str))
    return next(filter(None, texts), "")


def title_and_text(place: str, fields: dict, task: Task) -> tuple[str, str]:
    """Return (title, text) of a document by --title and --text, "" where it has none of the fields.

    A field that no document has is a problem: see Task.stop.
    """
    options = {"--title": task.options.title, "--text": task.options.text}
    texts: dict[str, list[str]] = {}
    for option, names in options.items():
        texts[option] = []
        for name in names.split(",") if names else ():
            task.expect(f"{option} {name} in any document", (name,), place, fields, option)
            texts[option].append(text_of(fields, name))
    return next(filter(None, texts["--title"]), ""), "\n\n".join(filter(None, texts["--text"]))


def choose_splits(splits: dict[str, object], task: Task) -> dict[str, object]:
    """Return the splits to read: those of --split, else one for dev and one for test.

    Raises EvalSetError with every split there is.
    """
    names = ", ".join(sorted(splits)) or "none"
    if task.options.split:
        chosen = task.options.split.split(",")
        for name in chosen:
            if name not in splits:
                raise EvalSetError(f"{task.source}: no split {name}, found {names}")
        return {name: splits[name] for name in chosen}
    by_half: dict[str, str] = {}
    for side, half in SIDES.items():
        for name in sorted(splits):
            if _first_word(name) == side:
                by_half.setdefault(half, name)
    if not by_half and len(splits) != 1:
        raise EvalSetError(f"{task.source}: found {names}, wanted one of them named by --split")
    return {name: splits[name] for name in by_half.values()} or splits


def half_of(split: str) -> str | None:
    """Return dev or test for the name of a split; None for a name that says neither."""
    return SIDES.get(_first_word(split))


def _first_word(split: str) -> str:
    return re.split(r"[-_.]", split)[0].lower()
