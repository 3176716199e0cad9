"""The examples of our pages, tried on a small set as they stand there."""

import json
import re
import shlex
import shutil
import sys
from types import ModuleType, SimpleNamespace

import pandas as pd
import pytest
from conftest import write_rows

from helpers import __main__ as commands
from helpers.measure import baseline, evalset, files, stats
from helpers.teach import practice, workbook

ROOT = workbook.ROOT
PLACES = ("README.md", ".github/*.md", "evals/*.md", "evals/schema/*.md", "notebooks/**/*.md")
PAGES = [path.read_text("utf-8") for place in PLACES for path in sorted(ROOT.glob(place))]
BLOCK, INLINE = re.compile(r"^```(\w*)\n(.*?)^```", re.M | re.S), re.compile(r"`([^`\n]+)`")
COMMAND = re.compile(r"(?:- run: )?((?:make|retrieval-baseline|\S*python -m helpers) .*?)(?: +#|$)")
JSON, FIELD = re.compile(r'\{"\w+": .*\}'), re.compile(r'"\w+": .+')
PYTHON = [code for page in PAGES for language, code in BLOCK.findall(page) if language == "python"]
TARGETS = re.findall(r"^([a-z]+):.*?## ", (ROOT / "Makefile").read_text("utf-8"), re.M)
RUN_HERE = "audit baseline card carry compare drop export freeze import new plan sql".split()
ELSEWHERE = re.compile(r"kind:|table:|ir_datasets:|sc://|sail|\.\.\.")  # what isn't here to be read
ALONE = ("audit", "baseline", "freeze", "plan")  # the others are named where no option follows
BARE, FLAGS = {"RUN", "QUERY"}, {("progress", "RUN"), ("report", "FULL"), ("learn", "SHORT")}
CARD = {"depth", "one_of", "chunker"}


def shown():
    """Return each line of a block and each piece of code in a sentence, once."""
    lines = []
    for page in PAGES:
        for _, code in BLOCK.findall(page):
            lines += map(str.strip, code.splitlines())
        lines += INLINE.findall(BLOCK.sub("", page))
    return sorted({*lines})


LINES = [found[1] for line in shown() if (found := COMMAND.match(line))]
ROWS = [json.loads(line) for line in shown() if JSON.fullmatch(line)]
ROWS += [json.loads(f"{{{line}}}") for line in shown() if FIELD.fullmatch(line)]


def typed(line):
    """Return the words of a command line, those of make as its recipe gives them."""
    first, *words = shlex.split(re.sub(r"^\S*python -m helpers", "retrieval-baseline", line))
    if first != "make":
        return words
    name, *variables = words
    options, bare = [], []
    for key, value in (word.split("=", 1) for word in variables):
        if (name, key) in FLAGS:
            options.append(f"--{key.lower()}")
        elif key == "OPTIONS":
            options += shlex.split(value)
        elif key in BARE:
            bare.append(value)
        else:
            options.append(f"--{key.lower()}={value}")
    if name == "carry" and variables and "TO=" not in line:
        options.append("--in-place")
    return [name, *options, *bare]


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Return a set with a baseline, a second chunker and the ids that the examples name."""
    folder, bodies = tmp_path_factory.mktemp("small"), {"rollback-v2": "Roll it back. " * 60}
    for n in range(12):
        bodies[f"page-{n}"] = "".join(f"The step{n}x{k} calls the host{n}x{k}. " for k in range(9))
    asked = {f"q{n:02}": f"page-{n}" for n in range(1, 11)} | {"id": "page-11"}
    labels = []
    for query_id, doc_id in asked.items():
        pair, quote = {"query_id": query_id, "doc_id": doc_id}, bodies[doc_id][:14]
        labels += [pair | {"relevance": 2, "evidence": quote}]
        labels += [pair | {"doc_id": "rollback-v2", "relevance": 0}]
    pages = ({"doc_id": d, "title": d, "text": body} for d, body in bodies.items())
    queries = ({"query_id": q, "query": f"step{d[5:]}x0 calls"} for q, d in asked.items())
    write_rows(folder / "corpus.jsonl", *pages)
    write_rows(folder / "retrieval_queries.jsonl", *queries)
    write_rows(folder / "judgments.jsonl", *labels)
    baseline.baseline_command(evalset.load(folder))
    for name in ("runs/{}.trec", "runs/{}.jsonl", "chunks/{}.jsonl"):
        shutil.copy(folder / name.format("fixed"), folder / name.format("recursive"))
    return folder


@pytest.fixture
def home(small, tmp_path, monkeypatch):
    """Work in a folder where evals/ is the set, with what else the examples name."""
    home = tmp_path / "home"
    for name in ("evals", "my-set", "folder", "path/to/folder", "../before/my-set"):
        shutil.copytree(small, home / name)
    (home / "docs").mkdir()
    for doc_id, document in evalset.load(small).documents.items():
        (home / "docs" / f"{doc_id}.md").write_text(f"# {doc_id}\n\n{document.text}\n")
    testset = "user_input,reference_contexts\nWho calls?,\"['The step1x0 calls the host1x0.']\"\n"
    (home / "testset.csv").write_text(testset)
    (home / "log.csv").write_text("query,count\nwho calls,3\nstep,1\n")
    monkeypatch.chdir(home)
    monkeypatch.setenv("EVALS", str(home / "evals"))
    monkeypatch.setattr(stats, "DRAWS", 300)
    return home


@pytest.fixture
def done(home, monkeypatch):
    """Return what runs a command in that folder and returns its status; runs are there by name."""

    def done(*words):
        for word in words:
            if (suffix := word.rpartition(".")[2]) in ("trec", "jsonl"):
                (home / word).parent.mkdir(parents=True, exist_ok=True)
                if not (home / word).exists():
                    shutil.copy(home / "evals" / "runs" / f"fixed.{suffix}", home / word)
        monkeypatch.setattr(sys, "argv", ["helpers", *words])
        return commands.main()

    return done


@pytest.mark.parametrize("line", LINES)
def test_a_command_does_what_it_is_shown_for(home, done, line):
    name, *words = typed(line.replace("/tmp/", ""))
    assert name in {*TARGETS, *commands.COMMANDS}
    if name not in RUN_HERE or ELSEWHERE.search(line):
        if name in commands.COMMANDS and "..." not in line:
            commands.parser(name).parse_args([name, *words])
    elif words or name in ALONE:
        for word in words:
            if word.startswith("--to=") and name != "sql":  # a new folder
                shutil.rmtree(home / word.removeprefix("--to="), ignore_errors=True)
        assert done(name, *words) in ((0, 1) if name == "audit" else (0,))


@pytest.mark.parametrize("row", ROWS, ids=json.dumps)
def test_an_object_is_taken_where_it_is_shown_for(home, done, capsys, row):
    if {*row} <= CARD:
        form = "jsonl" if "chunker" in row else "trec"
        for name in ("run-1", "run-2"):
            (home / f"{name}.json").write_text(json.dumps(row))
        assert done("compare", f"run-1.{form}", f"run-2.{form}") == 0
        name = row.get("one_of", "run-1, run-2")
        assert f"# {name} against baseline\n" in capsys.readouterr().out
    elif "results" in row:
        write_rows(home / "mine.jsonl", row)
        assert done("compare", "mine.jsonl") in (0, 1)
    elif "relevant_docs" in row:
        (home / "docs" / "sub").mkdir()
        for name in row["relevant_docs"]:
            (home / "docs" / name).write_text("A text.\n")
        (home / "docs" / "eval_queries.json").write_text(json.dumps([row]))
        assert done("import", "--from=text:docs", "--to=new") == 0
        assert len(evalset.load(home / "new").queries[row["id"]].relevant_doc_ids) == 2
    elif {*row} <= {*files.schema("settings").fields}:
        (home / "evals" / "settings.json").write_text(json.dumps(row))
        assert evalset.load(home / "evals").folder == home / "evals"
    else:
        forms = [files.schema(path.name.partition(".")[0]) for path in files.FORMS.glob("*.json")
                 if not path.name.startswith("results")]  # fmt: skip
        fitting = [form for form in forms if all(form.fits(name, row[name]) for name in row)]
        assert fitting, row


def test_a_document_a_query_and_a_label_make_a_set(tmp_path):
    (page,) = (page for page in PAGES if "(`corpus/refunds.md`)" in page)
    blocks = [code for language, code in BLOCK.findall(page) if not language][1:4]
    (tmp_path / "corpus").mkdir()
    names = ("corpus/refunds.md", "retrieval_queries.jsonl", "judgments.jsonl")
    for name, code in zip(names, blocks, strict=True):
        (tmp_path / name).write_text(code)
    evals = evalset.load(tmp_path)
    assert evals.qrels() == {"q1": {"refunds": 2}} and evals.next_step() == ""


def of_splitter(**options):
    """Return what cuts a text as LangChain does, in one piece."""
    piece = lambda body: SimpleNamespace(page_content=body, metadata={"start_index": 0})  # noqa: E731
    return SimpleNamespace(create_documents=lambda bodies: [piece(body) for body in bodies])


@pytest.mark.parametrize("code", PYTHON, ids=lambda code: code.partition("\n")[0])
def test_python_runs_as_it_stands(home, done, monkeypatch, capsys, code):
    langchain = ModuleType("langchain_text_splitters")
    langchain.RecursiveCharacterTextSplitter = of_splitter
    monkeypatch.setitem(sys.modules, "langchain_text_splitters", langchain)
    for name in [name for name in sys.modules if name.partition(".")[0] == "helpers"]:
        installed = name.replace("helpers", "retrieval_baseline", 1)
        monkeypatch.setitem(sys.modules, installed, sys.modules[name])
    evals = evalset.load()
    for name in ("practice.jsonl", "theirs.jsonl"):
        shutil.copy(home / "evals" / "judgments.jsonl", home / "evals" / name)
    names = {"evals": evals, "practice": practice, "pd": pd}
    exec(code, names)
    for name in [name for name in names if name.startswith("test_")]:
        names[name]()
    for run in home.glob("*.jsonl"):
        assert done("compare", run.name) in (0, 1)
