"""Write an evaluation-set folder from a source (import) or from nothing (new)."""

import json
import math
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tqdm import tqdm

from ..measure import evalset, files, links, stats
from ..measure.evalset import EvalSet, Judgment
from ..measure.files import SPLITS, EvalSetError
from ..measure.installation import command
from ..measure.text import TOKENIZERS
from . import catalogue, collections, halves, query_log, questions, trees
from .readers import WORDS, Label, Options, Source, Task, half_of

SOME = "split title text columns queries labels sample"  # options that not all kinds have
READERS = {  # KIND of KIND:PATH: its reader and those of SOME that it takes
    "markdown": (trees.markdown_tree, "title text split columns labels queries sample"),
    "html": (trees.converted_tree, "split columns labels queries sample"),
    "rst": (trees.converted_tree, "split columns labels queries sample"),
    "text": (trees.text_tree, "split columns labels queries sample"),
    "code": (trees.code_tree, "columns queries sample"),
    "hotpotqa": (questions.hotpotqa, "split"),
    "beir": (collections.read_tables, "split title text columns"),
    "trec": (collections.read_tables, "split title text columns"),
    "table": (collections.read_tables, "split title text columns queries labels"),
    "ir_datasets": (catalogue.read_dataset, "split queries"),
}
NEW = Path(__file__).parent / "new"  # a set to start from
SMALLER = 0.25  # share of the queries that the smaller half must have, or groups are torn
TRUNCATED = (
    "truncated: --max-docs kept every judged document and part of the others, "
    "so scores are too high to compare with published ones"
)
CARD = """# {name} ({kind})

Imported with `--from {kind}:{name}{options}`. The heading is the name under which results are \
shown: change it to your own. Where documents, queries and labels are other people's, see the \
source for authors and licence before you pass them on.

Ids are the source's, with spaces, slashes, # and % percent-encoded. Of a page it's the path, with \
: for each / and without the ending.

## What was found

{found}
"""
Labels = dict[str, dict[str, Label]]  # {query_id: {doc_id: label}}


def import_command(source: str, to: Path, **more) -> list[str]:
    """Import KIND:PATH, with `more` Options, into a new folder and return what was found."""
    kind, _, path = source.partition(":")
    lines = import_into(Options(kind, path, **more), to)
    following = evalset.load(to).next_step() or command("report", EVALS=to)
    return [*lines, f"{to} is an evaluation set; next: {following}"]


def new_command(to: Path) -> str:
    """Copy the example set into the folder `to` and return the next steps."""
    with new_set(to) as folder:
        shutil.copytree(NEW, folder, copy_function=shutil.copyfile, dirs_exist_ok=True)
    names = sorted(path.relative_to(to).as_posix() for path in to.rglob("*") if path.is_file())
    return f"{to} holds {', '.join(names)}\nnext steps: {to / 'README.md'}"


@contextmanager
def new_set(to: Path) -> Iterator[Path]:
    """Give a folder to fill, which is loaded as a check before it becomes `to`: all or nothing."""
    with files.new_folder(empty_folder(to)) as folder:
        yield folder
        evalset.load(folder)


def empty_folder(to: Path) -> Path:
    """Return the whole path of a new or an empty folder. Raises EvalSetError for any other."""
    to = to.resolve()
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise EvalSetError(f"{to}: is not empty, wanted a new or an empty folder")
    return to


def import_into(options: Options, to: Path) -> list[str]:
    """Import a source into the new folder `to` and return what was found, line by line.

    Raises EvalSetError with every problem; nothing is written then.
    """
    files.refuse(wrong_options(options))
    with new_set(to) as folder:
        lines = write_unchecked(options, folder)
        files.write(folder / "README.md", data_card(options, lines))
    return lines


def wrong_options(options: Options) -> list[str]:
    """Return what is wrong with a kind and its options."""
    kind, language = options.kind, options.language
    if kind not in READERS or not options.path:
        found = f"found {kind}:{options.path}"
        return [f"--from: {found}, wanted KIND:PATH with a kind of: {', '.join(READERS)}"]
    taken = READERS[kind][1].split()
    wanted = f"wanted of such options only: {', '.join(taken) or 'none'}"
    problems = []
    for name in SOME.split():
        if getattr(options, name) and name not in taken:
            problems.append(f"--{name} is not for {kind}, {wanted}")
    if language and not re.fullmatch("[a-z]{2,3}", language):
        problems.append(f"--language is {language}, wanted a code of ISO 639, such as ja")
    return problems


def write_unchecked(options: Options, folder: Path) -> list[str]:
    """Write what a source holds, whether it makes a set or not; return what was found."""
    task = Task(options)
    source = read_source(task)
    queries = _queries_by_id(source, task)
    qrels = read_labels(source.labels or (), task)
    task.stop()
    asked, drawn = log_sample(source, task)
    written, is_truncated = write_corpus(folder, source, qrels, task)
    task.stop()
    if not written:
        raise EvalSetError(f"{task.source}: found no documents, wanted some with a text")
    kept = keep_answered(queries, qrels, written, task)
    if source.labels is not None and not kept:
        raise EvalSetError(none_answered(source, task))
    grades = Counter(label.grade for row in kept.values() for label in row.values())
    settings = write_settings(folder, options.kind, source.words, grades)
    splits, sentence = write_labels(folder, queries, kept, source, options.halve)
    if asked:
        files.write_jsonl(folder / "retrieval_queries.jsonl", asked)
    lines = [
        stats.without_halves(len(kept)) if kept and not sentence else "",
        f"documents: {len(written)}",
        f"queries: {len(kept) + len(asked)}" + _breakdown(Counter(splits.values()), ""),
        f"judgments: {grades.total()}" + _breakdown(grades, "of grade "),
        *drawn,
        *task.lines(),
        TRUNCATED if is_truncated else "",
        sentence,
        *settings,
        *source.about,
    ]
    return [line for line in lines if line]


def read_source(task: Task) -> Source:
    """Return what the reader of a kind finds, in the words of --language if that is named."""
    source = READERS[task.options.kind][0](task)
    if task.options.language:
        return source._replace(words=WORDS.get(task.options.language, "words"))
    return source


def none_answered(source: Source, task: Task) -> str:
    """Return the problem of a source in which labels, queries and documents don't meet."""
    wanted = "wanted the same split and ids written the same way, leading zeros too"
    splits = f"splits found: {', '.join(source.splits) or 'unknown'}"
    found = "; ".join([*task.lines(), splits])
    return f"{task.source}: no query has a relevant document in the corpus, {wanted}; {found}"


def log_sample(source: Source, task: Task) -> tuple[list[dict], list[str]]:
    """Return queries from the log beside pages and lines on the draw, none where none is named."""
    if not (task.options.queries and is_tree(task.options.kind)):
        return [], []
    if source.labels is not None:
        raise EvalSetError(
            f"--queries: found labelled queries, too (--labels or {trees.QUERIES}), "
            "wanted one of the two"
        )
    return query_log.sample_queries(TOKENIZERS[source.words], task)


def is_tree(kind: str) -> bool:
    """Return whether a source is a folder of files that are the documents."""
    return READERS[kind][0].__module__ == trees.__name__


def _breakdown(counts: Counter, words: str) -> str:
    parts = ", ".join(f"{number} {words}{name}" for name, number in sorted(counts.items()))
    return f" ({parts})" if parts else ""


def _queries_by_id(source: Source, task: Task) -> dict[str, dict]:
    queries, places = {}, {}
    for place, row in source.queries:
        if not row["query"]:
            task.leave_out("queries without text", place)
        elif _is_new(place, row, "query_id", places, task):
            queries[row["query_id"]] = row
    return queries


def _is_new(place: str, row: dict, name: str, places: dict[str, str], task: Task) -> bool:
    first = places.setdefault(row[name], place)
    if row[name] and first != place:
        task.problems.append(
            f"{place}: {name} {row[name]} stands already at {first}, wanted each once"
        )
    return first == place


# What labels mean: which queries they keep, and which half each query is in.


def read_labels(labels: Iterable[Label], task: Task) -> Labels:
    """Return the labels by query; the same pair may stand twice only with the same grade.

    Grades below 0 become 0: trec_eval too gives them no gain.
    """
    qrels = {}
    for label in labels:
        place, split, query_id, doc_id, grade, _ = label
        number = re.fullmatch(r"(-?\d{1,3})(\.0+)?", str(grade).strip())
        if not number:
            task.problems.append(
                f"{place}: grade is {str(grade).strip()!r}, wanted a whole number up to 999"
            )
        if not (number and query_id and doc_id):  # a reader has told of the id that lacks
            continue
        if int(number[1]) < 0:
            task.changed["grades below 0, which became 0"] += 1
        label = label._replace(grade=max(0, int(number[1])))
        row = qrels.setdefault(query_id, {})
        former = row.setdefault(doc_id, label)
        first = next(iter(row.values()))
        if first.split != split:
            there = f"query {query_id} is in {split} and at {first.place} in {first.split}"
            task.problems.append(f"{place}: {there}, wanted each query in one split")
        elif former.grade != label.grade:
            there = f"grade {label.grade} and at {former.place} grade {former.grade}"
            task.problems.append(f"{place}: {query_id} {doc_id} has {there}, wanted one")
        elif former.place != place:
            task.leave_out("pairs judged twice with one grade", place)
    return qrels


def keep_answered(queries: dict[str, dict], qrels: Labels, held: set[str], task: Task) -> Labels:
    """Return the labels of known queries and documents, for queries with a relevant document."""
    kept = {}
    for query_id, row in qrels.items():
        first = next(iter(row.values())).place
        if query_id not in queries:
            task.leave_out("judged queries without a text", first)
            continue
        own = {}
        for doc_id, label in row.items():
            if doc_id in held:
                own[doc_id] = label
            else:
                task.leave_out("labels of documents that are not there", label.place)
        if any(label.grade for label in own.values()):
            kept[query_id] = own
        else:
            task.leave_out("judged queries without a relevant document", first)
    for query_id in queries:
        if query_id not in qrels:
            task.leave_out("queries without judgments", f"query {query_id}")
    return kept


def write_labels(
    folder: Path, queries: dict[str, dict], kept: Labels, source: Source, halve: bool
) -> tuple[dict[str, str], str]:
    """Write queries and judgments, without labels the guide to make them.

    Returns {query_id: dev or test} and where the halves come from, "" where all are dev.
    """
    if not kept:
        shutil.copyfile(NEW / "labeling_guide.md", folder / "labeling_guide.md")
        return {}, ""
    judgments = []
    for query_id, row in kept.items():
        for doc_id, label in row.items():
            judged = Judgment(query_id, doc_id, label.grade, label.evidence)
            judgments.append(evalset.label_row(judged))
    files.write_jsonl(folder / "judgments.jsonl", judgments)
    splits, sentence = source_halves(kept, source)
    if halve or not sentence:
        splits, sentence = dict.fromkeys(kept, SPLITS[0]), ""
    write_queries(folder, queries, kept, splits)
    if halve or not sentence and len(kept) >= stats.HALVES_FROM:
        splits, how = draw_halves(evalset.load(folder))
        write_queries(folder, queries, kept, splits)
        read = {label.split for row in kept.values() for label in row.values()}
        sentence = f"halves: drawn{how} ({', '.join(sorted(read))})"
    return splits, sentence


def write_queries(folder: Path, queries: dict, kept: Labels, splits: dict[str, str]) -> None:
    """Write retrieval_queries.jsonl: each kept query with its relevant documents and its half."""
    rows = []
    for query_id, row in kept.items():
        relevant = [doc_id for doc_id, label in row.items() if label.grade]
        more = {"relevant_doc_ids": relevant, "split": splits[query_id]}
        rows.append(queries[query_id] | more)
    files.write_jsonl(folder / "retrieval_queries.jsonl", rows)


def source_halves(kept: Labels, source: Source) -> tuple[dict[str, str], str]:
    """Return {query_id: half} by the source's own splits, "" in words where they don't say both.

    All splits of the source count, read or not.
    """
    splits = {query_id: next(iter(row.values())).split for query_id, row in kept.items()}
    read = sorted({*splits.values()})
    own = {query_id: half_of(split) for query_id, split in splits.items()}
    sides = {half_of(split) for split in (*source.splits, *read)}
    if not sides.issuperset(SPLITS) or None in own.values():
        return own, ""
    return own, f"halves: the source's own ({', '.join(read)})"


def draw_halves(evals: EvalSet) -> tuple[dict[str, str], str]:
    """Return {query_id: dev or test} and how they were drawn, in words.

    The draw sees the queries, their labels and the relevant documents.
    """
    linked = links.alike_answers(evals)
    groups = links.components(evals, linked)
    drawn, _ = halves.draw_halves(evals, groups, linked)
    largest, n = max(map(len, groups)), len(drawn)
    smaller = min(Counter(drawn.values()).values()) if n > largest else 0
    if smaller >= SMALLER * n or largest == 1:
        return drawn, ", queries that share a full answer in one"
    torn = [{query_id} for query_id in evals.queries]
    drawn, _ = halves.draw_halves(evals, torn, linked)
    return drawn, f"; shared answers connect {largest} of {n} queries, so the halves share some"


def write_corpus(folder: Path, source: Source, qrels: Labels, task: Task) -> tuple[set[str], bool]:
    """Write corpus.jsonl; return the ids in it and whether --max-docs left some out.

    The judged documents always stay, then the first of the others. Reading stops when nothing
    more can come.
    """
    judged = {doc_id for row in qrels.values() for doc_id in row}
    room = max(0, (task.options.max_docs or math.inf) - len(judged))
    written, places, truncated = set(), {}, False
    stream = getattr(sys.stderr, "stream", sys.stderr)  # a bar moves the cursor: see inert.Screen
    with (folder / "corpus.jsonl").open("w", encoding="utf-8", newline="\n") as file:
        for place, row in tqdm(source.documents, "documents", file=stream, disable=None):
            if not (room or judged):
                return written, True
            doc_id = row["doc_id"]
            if not _is_new(place, row, "doc_id", places, task):
                continue
            if not row["text"].strip():
                task.leave_out("documents without text", place)
                continue
            if doc_id not in judged:
                if not room:
                    truncated = True
                    continue
                room -= 1
            judged.discard(doc_id)
            written.add(doc_id)
            print(json.dumps(row, ensure_ascii=False), file=file)
    return written, truncated


def write_settings(folder: Path, kind: str, words: str, grades: Counter) -> list[str]:
    """Write settings.json if it must say something; return a line for tokenizer and grades."""
    settings = {}
    if words != "words":
        settings["words"] = words
    if max(grades, default=0) > files.GRADES[-1]:
        settings["highest_grade"] = max(grades)
    lines = [f"{name}: {value}, in settings.json" for name, value in settings.items()]
    if grades:  # labels, not only documents
        settings["imported"] = kind
    if settings:
        files.write_json(folder / "settings.json", settings)
    return lines


def data_card(options: Options, lines: list[str]) -> str:
    """Return README.md: the source, without the paths of this machine, and what was found."""
    found = "\n".join(f"- {line}" for line in lines)
    values = options._asdict()
    for option in ("path", "queries", "labels"):
        if values[option] and options.kind != "ir_datasets":
            path = Path(values[option])
            values[option] = path.resolve().name
            if path.is_absolute():
                found = found.replace(str(path), path.name)
    kind, name = values.pop("kind"), values.pop("path")
    words = ""
    for option, value in values.items():
        if value:
            words += f" --{option.replace('_', '-')}" + ("" if value is True else f" {value}")
    return CARD.format(kind=kind, name=name, options=words, found=found)
