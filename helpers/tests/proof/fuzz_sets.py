"""Small sets, runs and sources that the fuzzer breaks, and the commands that read them."""

import contextlib
import gzip
import io
import json
import shutil
from pathlib import Path

import duckdb
import pandas as pd
from conftest import write_rows
from learn import small_session
from sources.importing import beir_folder, mmarco_folder, put

from helpers import chunks, compare, evalset, measures, results, runs, workbook
from helpers.labels import manifest, merge
from helpers.sources import export
from helpers.sql import command

TOPICS = ("disk", "queue", "deploy", "certificate", "cache", "login", "mail", "clock")
GUIDE = "Grade 0 is no help, 1 is a part, 2 is a whole answer. " + "Read it all first. " * 30

# `pieces` is what sessions and panel read in a set, without a notebook. HOUSE is a small workbook:
# commands that work on the workbook itself find it in the trial's folder, and `refresh` runs its
# notebooks. `report` and `check` run the real ones.
HOUSE, SLOW = "README.md stand_in.py notebooks evals", ("report", "check", "refresh")
SQL, PARQUET = "sql --evals graded --to out", "sql --docs docs.parquet --queries asked.parquet"
SETTINGS = '{"highest_grade": 3, "confirmed": {"run": "2026-11-23"}}\n'
TWO, TWO_FILES = "compare run.jsonl run.trec", "run.jsonl run.trec run.json"
BASE = "compare run.jsonl --base base.run"
IMPORTS = [  # (kind and form, source, options)
    ("beir", "beir", ""),
    ("beir gz", "beirgz", "--split test --max-docs 3"),
    ("trec", "trec", ""),
    ("hotpotqa", "hotpot_dev_v1.json", ""),
    ("hotpotqa jsonl", "validation.jsonl", ""),
    ("table", "mmarco", "--language ja"),
    ("table named", "named", "--title head --text body --columns query=ask"),
    ("table csv", "csv", ""),
    ("table passages", "dev.jsonl", ""),
    ("table array", "passages.json", "--language yo"),
    ("markdown", "markdown", "--title name"),
    ("text", "text", ""),
    ("code", "code", ""),
]
ROWS = [  # (name, words of the command, what of the stock it needs)
    ("report", "report --evals graded", "graded"),
    ("check", "check --evals graded", "graded"),
    ("baseline", "baseline --evals graded", "graded"),
    ("baseline bare", "baseline --evals bare", "bare"),
    ("refresh", "refresh", HOUSE),
    ("learn", "learn", HOUSE),
    ("learn again", "learn", f"{HOUSE} learn"),
    ("learn fresh", "learn --fresh", f"{HOUSE} learn"),
    ("progress", "progress", f"{HOUSE} learn"),
    ("sql", SQL, "graded"),
    ("sql chunks", f"{SQL} --chunks fixed --idf lucene", "graded"),
    ("sql parquet", f"{PARQUET} --to out --k1 1.2 --b 0.5", "docs.parquet asked.parquet"),
    ("sql kept", f"{PARQUET} --to kept", "docs.parquet asked.parquet kept"),
    ("pieces", "pieces graded", "graded"),
    ("pieces table", "pieces table", "table"),
    ("audit", "audit --evals graded", "graded"),
    ("audit bare", "audit --evals bare", "bare"),
    ("audit table", "audit --evals table", "table"),
    ("freeze", "freeze --evals graded", "graded"),
    ("freeze bare", "freeze --evals bare", "bare"),
    ("export", "export --evals graded --to out", "graded"),
    ("export again", "export --evals table --to old", "table old"),
    ("plan", "plan --evals graded", "graded"),
    ("drop", "drop q3 --evals graded", "graded"),
    ("drop again", "drop q4 --evals dropped", "dropped"),
    ("carry", "carry --evals graded --from moved --to out", "graded moved"),
    ("carry import", "carry --evals table --from text:text --to deep/out", "table text"),
    ("compare", "compare run.trec --evals graded", "graded run.trec run.json"),
    ("compare two", f"{TWO} --evals graded --to out --split all", f"graded {TWO_FILES}"),
    ("compare base", f"{BASE} --evals table --strict", "table run.jsonl base.run"),
    ("new", "new --to out", "old"),
]
for name, source, options in IMPORTS:
    words = f"import --from {name.split()[0]}:{source} --to deep/out {options}"
    ROWS.append((f"import {name}", words, source))
CASES = {name: (words.split(), needs.split()) for name, words, needs in ROWS}


def lay_out(case: str, stock: Path, folder: Path) -> None:
    """Put what a case needs into an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name in CASES[case][1]:
        copy = shutil.copytree if (stock / name).is_dir() else shutil.copyfile
        copy(stock / name, folder / name)


def make(stock: Path) -> None:
    """Write everything that CASES names below `stock`."""
    graded(stock / "graded")
    table(stock / "table")
    shutil.copytree(stock / "graded", stock / "bare")
    for name in ("manifest.json", "negatives.jsonl", "settings.json"):
        (stock / "bare" / name).unlink()
    shutil.copytree(stock / "graded", stock / "dropped")
    merge.drop_query(stock / "dropped", "q3")
    export.write_exports(evalset.load(stock / "graded"), stock / "old")  # has a qrels/test.tsv
    moved(stock / "moved")
    run_files(stock)
    parquet(stock)
    sources(stock)
    house(stock)


def graded(folder: Path) -> None:
    """Write a set with every file that a set may have, its baseline and its manifest."""
    tables = {"retrieval_queries": [], "judgments": [], "second_pass": [], "pool": []}
    for n, name in enumerate(TOPICS):
        page = f"---\ntitle: About {name}\nkind: runbook\nservice: s{n % 2}\nupdated: 2026-04-08\n"
        body = f"Is the {name} full? Step {n}.\n\nThen call *storage*: `rm -r {name}`.\n"
        put(folder / "corpus" / f"{name}-full.md", f"{page}---\n{body}")
        query_id, others = f"q{n}", [f"{other}-full" for other in TOPICS if other != name]
        query = {"query_id": query_id, "query": f"{name} halts worker {n}"}
        query |= {"split": ("dev", "test")[n > 4], "kind": ("symptom", "keyword")[n % 2]}
        query |= {"popularity": ("head", "tail")[n % 2], "relevant_doc_ids": [f"{name}-full"]}
        tables["retrieval_queries"].append(query | {"answers": ["yes"]})
        good = {"query_id": query_id, "doc_id": f"{name}-full", "relevance": 1 + n % 2}
        poor = [{**good, "doc_id": other, "relevance": 0} for other in others]
        tables["judgments"] += [{**good, "evidence": f"Is the {name} full?"}, *poor[n > 4 :]]
        pair, grades = {"query_id": query_id, "doc_id": others[2]}, {"first": 0, "second": 0}
        tables["second_pass"].append({**pair, "round": 1, **grades, "final": 0, "reason": ""})
        tables["pool"].append({**pair, "rankers": ["bm25", "hand"], "first": 0})
    first, undone = f"{TOPICS[0]}-full", {"query_id": "q7", "doc_id": f"{TOPICS[0]}-full"}
    tables["labelling"] = [
        {"query_id": "q6", "doc_id": first, "relevance": 1, "evidence": "Step 0.", "time": "t"},
        {**undone, "relevance": 0, "time": "t2"},
        {"undo": {**undone, "time": "t2"}, "time": "t3"},
    ]
    for name, rows in tables.items():
        write_rows(folder / f"{name}.jsonl", *rows)
    put(folder / "README.md", "# Small *set*\n\nMade by hand.\n")
    put(folder / "notes.md", "## q0\nThe word *full* is everywhere.\n")
    put(folder / "labeling_guide.md", GUIDE)
    put(folder / "settings.json", SETTINGS)
    baseline(folder)
    with contextlib.redirect_stdout(io.StringIO()):
        manifest.freeze_command(evalset.load(folder))


def baseline(folder: Path) -> None:
    """Write the baseline's files as sessions would, and another system's run."""
    evals = evalset.load(folder)
    spans = [(d.doc_id, 0, 0, len(d.retrieval_text), 9) for d in evals.documents.values()]
    chunks.write_chunks(folder / "chunks" / "fixed.jsonl", [chunks.Chunk(*span) for span in spans])
    run = ranked(evals, 0)
    runs.save(evals, "fixed", {q: [(f"{d}#0", s) for d, s in r] for q, r in run.items()}, run, {})
    base = runs.read_run(folder / "runs" / "fixed.trec", evals)
    found = compare.compare(evals, base, [base._replace(name="same")])
    values = measures.per_query(evals.qrels(), run)
    results.write_results(folder, results.results_content(evals, run, values, found, [], {}))
    runs.write_trec(folder / "systems" / "other.trec", ranked(evals, 2), "other")
    runs.write_card(folder / "systems" / "other.json", evals, {"engine": "x"})


def ranked(evals: evalset.EvalSet, shift: int) -> dict[str, runs.Ranking]:
    """Return five documents a query, the first `shift` queries with their answer last."""
    found = {}
    for n, query in enumerate(evals.queries.values()):
        order = sorted(evals.documents, key=lambda d: (d not in query.relevant_doc_ids, d))[:5]
        order = order[::-1] if n < shift else order
        found[query.query_id] = [(d, 9.5 - rank) for rank, d in enumerate(order)]
    return found


def table(folder: Path) -> None:
    """Write a set of one table of documents, without grades."""
    folder.mkdir()
    documents, asked = [], []
    for n, name in enumerate(TOPICS):
        body = f"Is the {name} full? Step {n}."
        documents.append({"doc_id": f"{name}-full", "title": name, "text": body})
        asked.append({"query_id": f"q{n}", "query": f"{name} halts worker {n}"})
        asked[-1]["relevant_doc_ids"] = [f"{name}-full"]
    write_rows(folder / "corpus.jsonl", *documents)
    write_rows(folder / "retrieval_queries.jsonl", *asked)


def moved(folder: Path) -> None:
    """Write the pages of `graded` as they are later: one gone, one renamed, one changed."""
    shutil.copytree(folder.with_name("graded") / "corpus", folder / "corpus")
    first, second, third, *_ = sorted((folder / "corpus").iterdir())
    first.unlink()
    second.rename(second.with_name("new-name.md"))
    third.write_text(third.read_text(encoding="utf-8").replace("Then call", "Or call"))


def run_files(stock: Path) -> None:
    """Write one run as TREC lines with a card, and another as JSON lines."""
    evals = evalset.load(stock / "graded")
    runs.write_trec(stock / "run.trec", ranked(evals, 3), "other")
    runs.write_card(stock / "run.json", evals, {"engine": "x"})
    runs.write_trec(stock / "base.run", ranked(evals, 0), "base")
    rows = [{"query_id": q, "results": r} for q, r in ranked(evals, 1).items()]
    write_rows(stock / "run.jsonl", *rows)


def parquet(stock: Path) -> None:
    """Write documents and queries as Parquet, and the folder that a search of them leaves."""
    docs, queries = stock / "docs.parquet", stock / "asked.parquet"
    texts = [f"Is the {name} full? Step {n}." for n, name in enumerate(TOPICS)]
    ids = [f"{name}#{n % 2}" for n, name in enumerate(TOPICS)]
    asked = {"query_id": ["q0", "q1"], "text": ["disk halts", "is the queue full?"]}
    with duckdb.connect() as connection:
        for path, rows in (
            (docs, {"doc_id": ids, "title": TOPICS, "text": texts}),
            (queries, asked),
        ):
            connection.from_df(pd.DataFrame(rows)).write_parquet(str(path))
    with contextlib.redirect_stdout(io.StringIO()):
        command.sql_command(stock, stock / "kept", docs=str(docs), queries=str(queries))


def house(stock: Path) -> None:
    """Write the small workbook, and the copies of a learner who is done."""
    table(stock / "evals")
    baseline(stock / "evals")
    for path in workbook.NOTEBOOKS:
        cells = small_session.session()[:11]
        small_session.write(stock, cells, path.name, path.parent.name)
    block = "<!-- generated: make refresh -->\n<!-- end -->\n"
    put(stock / "README.md", f"# Small\n\n[words](notebooks/glossary.md)\n\n## More\n{block}")
    put(stock / "evals" / "README.md", f"# Its set\n\n{block}")
    put(stock / "evals" / "labeling_guide.md", GUIDE)
    put(stock / "evals" / "coverage.md", "# Coverage\n")
    put(stock / "notebooks" / "glossary.md", "# Words\n\nOf [a set](../evals/README.md).\n")
    put(stock / "notebooks" / "further" / "README.md", "# Further\n")
    put(stock / "stand_in.py", small_session.STAND_IN)
    shutil.copytree(stock / "notebooks", stock / "learn")
    shutil.copytree(stock / "evals", stock / "learn" / "evals")


def sources(stock: Path) -> None:
    """Write a small source of every kind that an import reads without the network."""
    for name in ("beir", "beirgz"):
        beir_folder(stock / name)
    for path in [*(stock / "beirgz").rglob("*.*")]:
        put(path.with_name(path.name + ".gz"), gzip.compress(path.read_bytes(), mtime=0))
        path.unlink()
    tables(stock)
    top = "<top>\n<num> Number: {0}\n<title> crime {0}\n<desc> Description:\nAll of it.\n</top>\n"
    put(stock / "trec" / "topics.txt", top.format(301) + top.format(302))
    put(stock / "trec" / "qrels.txt", "301 0 A-1 1\n301 0 B 0\n302 0 B 2\n")
    texts = {"A-1": "crime", "B": "b crime"}.items()
    write_rows(stock / "trec" / "docs.jsonl", *({"docid": d, "contents": c} for d, c in texts))
    hotpot(stock)
    trees(stock)


def tables(stock: Path) -> None:
    """Write tables as mMARCO's, with named columns, as CSV, and rows with passages."""
    mmarco_folder(stock / "mmarco")
    for name in ("collections/english_collection.tsv", "queries/english_queries.dev.small.tsv"):
        (stock / "mmarco" / name).unlink()
    rows = [{"docid": d, "head": "t", "body": f"ilu {d}"} for d in ("7#1", "9#0", "5#5")]
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    put(stock / "named" / "docs-0.jsonl.gz", gzip.compress(data, mtime=0))
    write_rows(stock / "named" / "queries.jsonl", {"qid": 7, "ask": "ilu"}, {"qid": 8, "ask": "a"})
    put(stock / "named" / "qrels.tsv", "docid\tqid\trel\n7#1\t7\t1\n9#0\t8\t1\n")
    put(stock / "csv" / "docs.csv", 'id,text\n1,"one\n\nline"\n2,two\n')
    put(stock / "csv" / "queries.csv", "qid,question\n7,one?\n8,two?\n")
    put(stock / "csv" / "labels.csv", "qid,doc_id,grade\n7,1,2\n8,2,1\n")
    passages, asked = (
        [{"docid": d, "title": "t", "text": f"ilu {d}"} for d in ("7#1", "9#0", "5")],
        [],
    )
    for n, (query_id, query) in enumerate({"7#0": "ilu nla", "8#0": "ojo"}.items()):
        sides = {"positive_passages": passages[n : n + 1], "negative_passages": passages[2:]}
        asked.append({"query_id": query_id, "query": query, **sides})
    write_rows(stock / "dev.jsonl", *asked)
    put(stock / "passages.json", json.dumps(asked, indent=1))


def hotpot(stock: Path) -> None:
    """Write two questions in both published forms."""
    old, new = [], []
    for n in range(2):
        said = {"question": f"Which film {n}?", "answer": "yes", "type": "comparison"}
        context = [[f"A {n} (film)", ["One.", " Two."]], [f"B/{n}", [f"Three {n}."]]]
        facts = [[f"A {n} (film)", 1], [f"B/{n}", 0]]
        old.append({"_id": f"5a{n}", **said, "context": context, "supporting_facts": facts})
        context = {"title": [t for t, _ in context], "sentences": [s for _, s in context]}
        facts = {"title": [t for t, _ in facts], "sent_id": [s for _, s in facts]}
        new.append({"id": f"5a{n}", **said, "context": context, "supporting_facts": facts})
    put(stock / "hotpot_dev_v1.json", json.dumps(old, indent=1))
    write_rows(stock / "validation.jsonl", *new)


def trees(stock: Path) -> None:
    """Write a tree of pages, one of notes and one of code."""
    put(stock / "markdown" / "a.md", "---\nname: A page\nkind: note\n---\n# Head\n\nSome text.\n")
    put(stock / "markdown" / "sub" / "b.markdown", "Title\n=====\n\nMore `text` here.\n")
    put(stock / "text" / "one.txt", "A first line\n\nand a body\n")
    put(stock / "text" / "sub" / "two.rst", "only a body that goes on\n" * 6)
    put(stock / "code" / "m.py", "import os\n\n\ndef f():\n    return os\n\n\nX = 1\n")
    put(stock / "code" / "main.go", "package main\n\nfunc main() {}\n")
