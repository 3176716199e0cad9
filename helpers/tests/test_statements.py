"""What README, data card, notebooks and Makefile say of commands, options, links and minutes.

Everything is read from the pages and from the Makefile, so that a new sentence is tested, too.
"""

import json
import math
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import WITH_MAKE, write_rows

from helpers import __main__, install
from helpers.label import write
from helpers.measure import evalset, files, runs
from helpers.teach.check import quick_test

ROOT = evalset.DEFAULT.parent
SESSIONS = sorted((ROOT / "notebooks").glob("session_*.ipynb"))
FURTHER = (ROOT / "notebooks" / "further").glob("*.ipynb")
NOTEBOOKS = [*SESSIONS, *FURTHER, ROOT / "evals" / "retrieval_eval.ipynb"]
NAMES = "README.md .github/CONTRIBUTING.md Makefile notebooks/comparing.md notebooks/installing.md "
NAMES += "notebooks/your_own_documents.md"
TEXTS = [(ROOT / name).read_text(encoding="utf-8") for name in NAMES.split()]
README, CONTRIBUTING, MAKEFILE, COMPARING, INSTALLING, OWN = TEXTS
PAGES = [
    ROOT / "README.md",
    ROOT / ".github" / "CONTRIBUTING.md",
    *sorted((ROOT / "evals").glob("*.md")),
    *sorted((ROOT / "notebooks").rglob("*.md")),
    ROOT / "helpers" / "label" / "new" / "README.md",
    *NOTEBOOKS,
]
TARGETS = dict(re.findall(r"^([a-z]+):.*?## (.*)", MAKEFILE, re.MULTILINE))


def prose(path: Path) -> str:
    """Return a page, or the Markdown of a notebook."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return text
    cells = json.loads(text)["cells"]
    return "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")


def code(page: str) -> list[str]:
    """Return what a page shows as code: lines of blocks, and spans."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    rest = re.sub(r"^```.*?^```", "", page, flags=re.DOTALL | re.MULTILINE)
    lines = [line.partition(" # ")[0].strip() for block in blocks for line in block.splitlines()]
    return [*lines, *re.findall(r"`([^`\n]+)`", rest)]


SPANS = sorted({span for path in PAGES for span in code(prose(path))})


def anchors(page: str) -> set[str]:
    """Return the anchors of a page: its headings', as GitHub makes them, and those it names."""
    heads = re.findall(r"^#+ (.+)$", page, re.MULTILINE)
    made = {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}
    return made | set(re.findall(r"""<\w+ id=["']([^"']+)["']""", page))


def test_links_lead_somewhere():
    broken = []
    for page in PAGES:
        text = re.sub(r"`[^`\n]*`", "", prose(page))
        for target in re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r"href=\"([^\"]+)\"", text):
            path, _, anchor = target.partition("#")
            if not re.match(r"\w+:", target):
                file = (page.parent / path).resolve() if path else page
                inside = file.exists() and file.is_relative_to(ROOT.resolve())
                if not inside or anchor and anchor not in anchors(prose(file)):
                    broken.append((page.name, target))
    assert broken == []


def test_places_of_the_page_exist():
    """Each is in the folder, or git ignores it since it comes with use."""
    table = CONTRIBUTING.partition("## What is where")[2].partition("## Changelog")[0]
    rows = re.findall(r"^\| (`.+?) \|", table, re.MULTILINE)
    places = [place for row in rows for place in re.findall(r"`([^`]+)`", row)]
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    assert len(places) > 5
    for place in places:
        assert (ROOT / place).exists() or f"/{place}" in ignored, place
    for door in ("measure", "label", "teach"):
        (row,) = re.findall(rf"^\| `helpers/{door}/` \| (.+) \|$", table, re.MULTILINE)
        for name in {*re.findall(r"`(\w+)`", row)} - {"measure", "label", "teach"}:
            assert (ROOT / "helpers" / door / f"{name}.py").exists(), name


NEEDED = {"RUN": "r", "FROM": "k:other", "TO": "other", "QUERY": "q"}  # some cannot do without
STUB = """#!/bin/sh
for name in EVALS ROOM N SEED ONLY MILLION; do eval "printf '%s\\0' \\"$name=\\$$name\\""; done
printf '%s\\0' "${0##*/}" "$@"
printf '\\n\\0'
"""


@pytest.fixture(scope="module")
def dry(tmp_path_factory):
    """Return a function that gives the words of each program that make starts.

    A stub stands in for each; the first words are what the environment says of six settings.
    """
    if WITH_MAKE.args[0]:
        pytest.skip(WITH_MAKE.kwargs["reason"])
    venv = tmp_path_factory.mktemp("venv")
    (venv / "bin").mkdir()
    for name in ("python", "jupyter"):
        (venv / "bin" / name).write_text(STUB)
        (venv / "bin" / name).chmod(0o755)
    ours = {"EVALS", "MAKEFLAGS", "MAKELEVEL", "MFLAGS"}
    ours |= {setting.partition("=")[0] for _, setting in SETTINGS}
    clean = {name: value for name, value in os.environ.items() if name not in ours}
    start = ["make", f"VENV={venv}", "-o", f"{venv}/ready"]
    for name in ("tools", "sail", "sphinx"):
        start += [f"{name.upper()}={venv}/{name}", "-o", f"{venv}/{name}/ready"]

    def started(target: str, *settings: str) -> list[list[str]]:
        named = {setting.partition("=")[0] for setting in settings}
        needed = NEEDED if target != "progress" else {}  # there RUN is no path
        needed = needed | ({"EVALS": "unlike"} if target == "carry" else {})  # no default there
        more = [f"{name}={value}" for name, value in needed.items() if name not in named]
        more += ["-n"] if target == "lock" else []  # it would ask the network
        words = [*start, target, *settings, *more]
        done = subprocess.run(words, cwd=ROOT, env=clean, capture_output=True, text=True)
        assert done.returncode == 0, (words, done.stderr)
        return [part.split("\0") for part in done.stdout.split("\0\n\0") if part]

    return started


def made(page: str) -> set[tuple[str, tuple[str, ...]]]:
    """Return (target, settings) of every `make` in code."""
    found = set()
    for span in page:
        if re.match(r"make [a-z]", span):
            target, *words = shlex.split(span)[1:]
            found.add((target, tuple(word for word in words if "=" in word)))
    return found


COMMANDS = sorted(made(SPANS))
TOLD = {  # (target, setting) that a target's own line in `make help` names
    (target, f"{name}={value or 'x'}")
    for target, words in TARGETS.items()
    for name, value in re.findall(r"\b([A-Z]+)=(\"[^\"]+\"|[\w:./-]+)?", words)
}
ASKED = {(target, setting) for target, some in COMMANDS for setting in some}
ASKED |= {("import", shlex.split(span)[0]) for span in SPANS if span.startswith("OPTIONS=")}
SETTINGS = sorted(TOLD | ASKED)


def test_every_make_command_that_a_page_names_runs_and_every_variable_has_an_effect(dry):
    plain = {}
    for target, settings in COMMANDS:
        assert target in TARGETS, target
        understood(dry(target, *settings))
    for target, setting in SETTINGS:
        name, value = setting.replace('"', "").split("=", 1)
        shown = dry(target, f"{name}={value}")
        plain[target] = plain.get(target) or dry(target)
        assert shown != plain[target], setting
        understood(shown)


def understood(calls: list[list[str]]) -> list[list[str]]:
    """Return the words of each `-m helpers` call; they must suit the command's own options."""
    found = [words[words.index("helpers") + 1 :] for words in calls if "helpers" in words]
    for words in found:
        __main__.parser(words[0]).parse_args(words)
    return found


def test_commands_get_the_folder_and_options_get_their_value(dry):
    for name, (needs, *_) in __main__.COMMANDS.items():
        if needs != __main__.NONE and name not in ("refresh", "label"):
            assert "--evals=my set" in understood(dry(name, "EVALS=my set"))[-1], name
            default = "unlike" if name == "carry" else "evals"
            assert f"--evals={default}" in understood(dry(name))[-1], name


def test_carry_is_in_place_where_no_new_folder_is_named(dry):
    (new,), (same,) = understood(dry("carry", "TO=x")), understood(dry("carry", "TO="))
    assert "--to=x" in new and "--in-place" in same


def test_a_space_and_an_apostrophe_are_part_of_a_name(dry, tmp_path):
    name = "it's my set"
    settings = [f"{variable}={name}" for variable in ("EVALS", "ROOM", "N", "SEED", "ONLY")]
    (words,) = dry("proof", *settings)
    assert words[:5] == settings
    for target, given, wanted in [
        ("export", [f"EVALS={name}", f"TO={name}"], [f"--evals={name}", f"--to={name}"]),
        ("import", [f"FROM=beir:{name}", f"TO={name}"], [f"--from=beir:{name}", f"--to={name}"]),
        ("drop", [f"QUERY={name}"], ["--evals=evals", "--", name]),
    ]:
        (words,) = dry(target, *given)
        assert words[6:] == ["python", "-m", "helpers", target, *wanted]
    (tmp_path / "my run").touch()  # where there is none of that name, a space stands between two
    there, missing = f"{tmp_path}/my run", f"{tmp_path}/my other"
    for value, wanted in ((there, [there]), (missing, missing.split())):
        (words,) = dry("compare", f"RUN={value}")
        assert words[words.index("--") + 1 :] == wanted


def test_the_lab_opens_copies_or_originals_with_the_folder_that_is_asked_for(dry):
    for settings, wanted in [
        ([], ["", f"{ROOT}/learn/evals"]),
        (["SOLUTIONS=1"], [f"{ROOT}/evals"]),
        (["SOLUTIONS=1", "EVALS=it's my set"], [f"{ROOT}/it's my set"]),
        (["SOLUTIONS=1", "EVALS=/my set"], ["/my set"]),
    ]:
        first = [words[0].split("\n")[-1] for words in dry("lab", *settings)]  # after root's word
        assert first == [f"EVALS={folder}" for folder in wanted]


@WITH_MAKE
def test_help_lists_every_target_once_and_python_is_chosen_by_its_variable():
    words = ["make", "-n", "-W", "requirements.txt", "report", "PYTHON=some-python"]
    shown = subprocess.run(words, cwd=ROOT, capture_output=True, text=True).stdout
    assert '"some-python" helpers/install.py .venv' in shown
    done = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True)
    groups = re.findall(r"^([A-Z][a-z ]+)\n  ", done.stdout, re.MULTILINE)
    assert groups == ["Learn", "Measure", "Make a set", "Maintain"]
    listed = re.findall(r"^  ([a-z]+) ", done.stdout, re.MULTILINE)
    phony = re.search(r"^\.PHONY: (.+)", MAKEFILE, re.MULTILINE)[1].split()
    rules = re.findall(r"^([a-z]+):(?!=)", MAKEFILE, re.MULTILINE)
    assert sorted(listed) == sorted(phony) == sorted(rules)
    assert {*__main__.COMMANDS} - {"label"} <= {*rules}  # lab opens the panel here
    told = INSTALLING.partition("Every target of make is a command")[2]
    told = told.partition("Where an exit")[0]
    assert {*re.findall(r"`([a-z]+)`", told)} - {"learn"} <= {*TARGETS} - {*__main__.COMMANDS}


def test_every_command_of_python_that_a_page_names_exists():
    for span in SPANS:
        if span.startswith("python -m helpers "):
            name, *words = shlex.split(span)[3:]
            assert name in __main__.COMMANDS, span
            if words:
                __main__.parser(name).parse_args([name, *words])


@pytest.fixture
def gate(folder, tmp_path, monkeypatch):
    """Return a function that compares two runs of six queries and returns the exit status.

    A run has the right document of so many queries in the first place, of the others in second.
    """
    ids = [f"q{n}" for n in range(6)]
    rows = [{"query_id": q, "query": q, "relevant_doc_ids": ["disk-full"]} for q in ids]
    write_rows(folder / "retrieval_queries.jsonl", *rows)
    (folder / "judgments.jsonl").unlink()

    def run(name: str, first: int) -> str:
        pair = ["disk-full", "queue-full"]
        orders = {q: pair if n < first else pair[::-1] for n, q in enumerate(ids)}
        rankings = {q: [(d, -rank) for rank, d in enumerate(order)] for q, order in orders.items()}
        runs.write_trec(tmp_path / f"{name}.trec", rankings, "t")
        return str(tmp_path / f"{name}.trec")

    def compared(base: int | None, new: int, *words: str) -> int:
        line = ["compare", run("new", new), "--evals", str(folder), *words]
        line += [] if base is None else ["--base", run("base", base)]
        monkeypatch.setattr(sys, "argv", ["helpers", *line])
        return __main__.main()

    return compared


GATE = [  # (queries that the base has right, that the new run has, options, exit status)
    (6, 0, (), 1),  # worse in all six: p = 2/64
    (5, 0, (), 0),  # worse in five: too few to tell
    (None, 0, (), 2),  # no baseline yet
    (5, 0, ("--strict",), 3),
    (3, 3, ("--strict",), 0),
    (6, 0, ("--strict",), 1),
]


@pytest.mark.proof
def test_the_gate_ends_as_the_page_says(gate):
    told = COMPARING.partition("-m helpers compare path/to/run.trec` is the gate")[2]
    head, *rows = re.findall(r"^\| (.+) \|$", told.partition("\n\nBy default")[0], re.MULTILINE)
    assert head == "exit status | default | `--strict` | `--gate not-worse`"
    wheres = {row.split(" | ")[0]: row.split(" | ")[1:] for row in rows}
    assert list(wheres) == ["0", "1", "2", "3"]
    assert wheres["3"][:2] == ["-", "too few queries to tell"]
    assert wheres["0"][0] == "no run is shown to be worse"
    assert wheres["2"][0] == "they cannot be compared"
    for base, new, words, status in GATE:
        assert gate(base, new, *words) == status, (base, new, words)
    assert "The report goes to `evals/comparisons/`" in COMPARING


def test_the_page_says_of_false_alarms_what_the_notebook_counted():
    """A range for one run, in whichever way it was drawn, and an upper end for four."""
    told = re.search(
        r"two ways: between (\.\d+) and (\.\d+)\. Of four runs, .+ in up to (\.\d+)", COMPARING
    )
    page = (ROOT / "notebooks" / "further" / "best_of_many.ipynb").read_text(encoding="utf-8")
    cells = {c["id"]: json.dumps(c.get("outputs")) for c in json.loads(page)["cells"]}
    one = re.search(r"lowest (0\.\d+), highest (0\.\d+)", cells["c-alarms-range"]).groups()
    four = re.findall(r'"\d+ +(0\.\d+) +0\.\d+', cells["c-alarms-four"])
    (low, high, of_four), (lowest, highest) = map(float, told.groups()), map(float, one)
    assert low <= lowest <= highest <= high
    assert high < max(map(float, four)) <= of_four


def fields_of(name: str) -> set[str]:
    """Return the fields that the schema of a file knows."""
    page = (evalset.DEFAULT / "schema" / f"{name}.schema.json").read_text(encoding="utf-8")
    return {*json.loads(page)["properties"]}


def test_sources_files_and_fields_are_those_that_are_read():
    table = OWN.partition("| source | `FROM` |")[2].partition("\n\n")[0]
    assert sorted(re.findall(r"`(\w+):", table)) == sorted(write.READERS)
    table = OWN.partition("| file | needed | optional |")[2].partition("\n\n")[0]
    lines = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    cells = {re.search(r"`(.+?)`", line[0])[1]: line[1:] for line in lines}
    names = {file: [{*re.findall(r"`(\w+)`", cell)} for cell in of] for file, of in cells.items()}
    optional = cells["retrieval_queries.jsonl"][1]
    told = set.union(*names["retrieval_queries.jsonl"])
    assert fields_of("retrieval_queries") - {"language", "round"} <= told
    assert names["corpus.jsonl"][0] == {"doc_id", "title", "text"} <= fields_of("corpus")
    assert set.union(*names["corpus/*.md"]) == fields_of("page")
    assert set.union(*names["judgments.jsonl"]) == fields_of("judgments")
    grades = f"`relevance` from {files.GRADES[0]} to {files.GRADES[-1]}"
    assert grades in cells["judgments.jsonl"][0]
    assert f"`split` (`{evalset.Query('q', 'q', ()).split}`, the default" in optional
    for name in fields_of("settings") - {"imported"}:  # import writes it, nobody else
        assert f'"{name}"' in cells["settings.json"][-1]


def test_limits_and_pythons_are_the_same_everywhere():
    pages = README + INSTALLING + MAKEFILE
    assert f"Up to {runs.LARGE:,} chunks the sessions search with `rank_bm25`" in OWN
    ((low, high),) = set(re.findall(r"[Pp]ython3? \(?3\.(\d+) to 3\.(\d+)", pages))
    after = int(high) + 1
    assert ((3, int(low)), (3, after)) == (install.LOWEST, install.BEYOND)
    assert f'target-version = "py3{low}"' in (ROOT / "pyproject.toml").read_text()
    assert f"python>=3.{low},<3.{after}" in (ROOT / "environment.yml").read_text()


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.stem[:9])
def test_quick_tests_say_how_many_of_their_questions_pass(path):
    words = "zero one two three four five six seven eight".split()
    quiz = prose(path).partition("## Quick test")[2]
    n = len(re.findall(r"^\*\*(\d)\.\*\*", quiz, re.MULTILINE))
    assert f"· {words[math.ceil(quick_test.PASS * n)]} of {words[n]} pass" in quiz
