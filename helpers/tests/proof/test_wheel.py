"""The gate as a package: built, installed into an empty environment and run outside the repository.

A wheel is built from the sdist, with uv where it is there. That asks the package index.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile

import pytest
import yaml

from helpers.measure import evalset, installation
from helpers.teach import workbook

ROOT, OWN = workbook.ROOT, evalset.DEFAULT
PAGE = (ROOT / "notebooks" / "comparing.md").read_text(encoding="utf-8")
MOST_MB = 320
WITH_PYTHON = ("pip", "setuptools", "pkg_resources", "_distutils_hack")  # in a new environment
COURSE = {*installation.COURSE} - {"lab"}
TARGETS = re.findall(r"^([a-z]+):.*?## ", (ROOT / "Makefile").read_text(), re.MULTILINE)
TYPED = re.compile(rf"\bmake (?:{'|'.join(TARGETS)})\b(?! .*in a checkout)|python -m helpers")


def done(*words, cwd, status=(0,), **env):
    """Run a program and return what it printed; it must end as expected."""
    kept = {n: v for n, v in os.environ.items() if n not in ("EVALS", "PYTHONPATH")} | env
    words = [*map(str, words)]
    ended = subprocess.run(words, cwd=cwd, env=kept, capture_output=True, text=True)
    said = ended.stdout + ended.stderr
    assert ended.returncode in status, (words, said)
    return said


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    place, uv = tmp_path_factory.mktemp("built"), shutil.which("uv")
    if uv:
        done(uv, "build", "--quiet", "--out-dir", place, ROOT, cwd=place)
    else:
        python = environment(place / "tools")
        done(python, "-m", "pip", "install", "--quiet", "build", cwd=place)
        done(python, "-m", "build", "--outdir", place, ROOT, cwd=place)
    return place


def environment(folder):
    """Make an empty environment with pip; return its Python."""
    done(sys.executable, "-m", "venv", folder, cwd=folder.parent)
    return folder / ("Scripts" if os.name == "nt" else "bin") / "python"


@pytest.fixture(scope="module")
def python(built, tmp_path_factory):
    """Return the Python of an environment with the wheel and what it asks for, no more."""
    place, (wheel,), uv = tmp_path_factory.mktemp("env"), built.glob("*.whl"), shutil.which("uv")
    python = environment(place / "env")
    tool = [uv, "pip", "install", "--python", python] if uv else [python, "-m", "pip", "install"]
    done(*tool, "--quiet", wheel, cwd=place)
    return python


@pytest.fixture(scope="module")
def gate(python, tmp_path_factory):
    """Return what runs a command in a folder with our set, from which the baseline was taken."""
    place = tmp_path_factory.mktemp("project")
    shutil.copytree(OWN, place / "evals", ignore=shutil.ignore_patterns("results.json", "fixed.*"))

    def run(*words, status=(0,), cwd=place):
        said = done(python.with_name("retrieval-baseline"), *words, cwd=cwd, status=status)
        assert not TYPED.search(said), said
        return said

    assert "no baseline yet" in run("compare", "evals/runs/recursive.jsonl", status=(2,))
    run.place, run.said = place, run("baseline")
    return run


def test_only_what_the_gate_needs_is_in_the_wheel(built):
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        pages = {name: file.read(name) for name in file.namelist()}
    rooms = {name.removeprefix("retrieval_baseline/") for name in pages if "dist-info" not in name}
    left_out = ("tests/", "teach/", "install.py", "templates/write_up.jinja")
    here = (path for path in (ROOT / "helpers").rglob("*") if path.is_file())
    wanted = {path.relative_to(ROOT / "helpers").as_posix() for path in here}
    wanted = {name for name in wanted if "__pycache__" not in name}
    assert {n for n in rooms if not n.startswith("schema/")} == {
        name for name in wanted if not name.startswith(left_out)
    }
    schemas = {f"schema/{path.name}" for path in (OWN / "schema").iterdir()}
    assert schemas <= rooms
    for name, page in pages.items():
        assert not re.search(rb"^ *(from|import) helpers", page, re.MULTILINE), name


def test_it_is_as_large_as_the_page_says(python):
    (site,) = python.parents[1].rglob("site-packages")
    tops = [path for path in site.iterdir() if not path.name.startswith(WITH_PYTHON)]
    files = [path for top in tops for path in (top, *top.rglob("*")) if path.suffix != ".pyc"]
    megabytes = sum(path.stat().st_size for path in files if path.is_file()) / 1e6
    names = {top.name.split("-")[0] for top in tops if top.suffix == ".dist-info"}
    others = names - {"retrieval_baseline"}
    told, size = map(int, re.search(r"brings (\d+) packages with it, (\d+) MB", PAGE).groups())
    print(f"{len(others)} packages and our own, {megabytes:.0f} MB of files without byte code")
    assert abs(len(others) - told) <= 2 and abs(megabytes - size) <= 5 and megabytes <= MOST_MB


def test_the_help_offers_no_command_of_the_course(gate):
    offered = {*re.findall(r"^    ([a-z]+) ", gate("--help"), re.MULTILINE)}
    assert {"baseline", "compare", "audit", "import", "export", "new"} <= offered
    assert not offered & COURSE


def test_the_baseline_is_that_of_the_sessions(gate):
    assert "nDCG has linear gain" in gate.said
    for name in ("chunks/fixed.jsonl", "runs/fixed.jsonl", "runs/fixed.trec"):
        assert (gate.place / "evals" / name).read_bytes() == (OWN / name).read_bytes(), name
    ours, theirs = (
        json.loads((folder / "results.json").read_text(encoding="utf-8"))
        for folder in (OWN, gate.place / "evals")
    )
    for content in (ours, theirs):
        content["method"].pop("engine")
        compared = content["compared_dev"]
        compared["runs"] = {row["name"]: row["measures"] for row in compared["runs"]}
    assert theirs.pop("cards") == [] and ours.pop("cards")
    assert within(theirs, ours) == []


def within(part, whole, place="results"):
    """Return the places at which `part` has what `whole` has not."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return [p for k in part for p in within(part[k], whole.get(k), f"{place} {k}")]
    return [] if part == whole else [place]


def test_runs_are_compared_as_documents_and_as_passages(gate):
    said = gate("compare", "evals/systems/dense-minilm.trec", "--junit", "x.xml", status=(0, 1))
    assert "# dense-minilm against baseline" in said and (gate.place / "x.xml").exists()
    said = gate("compare", "evals/runs/recursive.jsonl", "--pairs", "3", status=(0, 1))
    assert "- Evidence: " in said and "within 2000 tokens" in said


def test_a_set_is_audited_exported_and_frozen(gate):
    assert " failed" in gate("audit", status=(0, 1))
    said = gate("export", "--to", "out")
    assert "without labels.parquet: pip install 'retrieval-baseline[sql]'" in said
    written = {path.relative_to(gate.place).as_posix() for path in gate.place.glob("out/**/*.*")}
    assert {"out/beir/corpus.jsonl", "out/qrels.trec"} < written
    assert "duckdb is missing" in gate("sql", "--to", "sql", status=(1,))
    assert "manifest.json describes" in gate("freeze")
    assert "detectable: the smallest difference" in gate("plan")


def test_a_small_set_is_imported_and_measured(gate):
    gate("new", "--to", "new")
    gate("import", "--from", "beir:out/beir", "--to", "small", "--max-docs", "300")
    audit = gate("audit", "--evals", "small", status=(0, 1)).split()
    assert "Nothing is measured yet: retrieval-baseline baseline measures" in " ".join(audit)
    assert "Method: helpers.sparse.bm25" in gate("baseline", "--evals", "small")
    assert "the same run" in gate("compare", "small/runs/fixed.trec", "--evals", "small")
    gate("audit", "--evals", "small", status=(0, 1))
    assert "not carried: " in gate("carry", "--evals", "new", "--from", "new", "--to", "carried")


def block(language, word):
    """Return the code of comparing.md in a language that has a word."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    (found,) = (code for code in blocks if word in code)
    return found


def test_the_example_with_pytest_runs_as_it_stands(gate, python):
    (gate.place / "test_search.py").write_text(block("python", "def test_"), encoding="utf-8")
    done(python, "-m", "pip", "install", "--quiet", "pytest", cwd=gate.place)
    assert "1 passed" in done(python, "-m", "pytest", "-q", "test_search.py", cwd=gate.place)
    card = json.loads((gate.place / "evals" / "comparisons" / "asked" / "search.json").read_text())
    assert 0 < card["seconds"]["median"] <= card["seconds"]["p95"] < 1


def test_the_steps_of_the_workflow_run_as_they_stand(gate, built, python):
    steps = yaml.safe_load(block("yaml", "GITHUB_STEP_SUMMARY"))["jobs"]["gate"]["steps"]
    shutil.copytree(built, gate.place / "tools")
    script = "import shutil, sys; shutil.copy('evals/systems/dense-minilm.trec', sys.argv[2])"
    (gate.place / "search_all.py").write_text(script)
    summary, path = gate.place / "summary.md", f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    for step in steps:
        if "run" in step:
            env = {"GITHUB_STEP_SUMMARY": str(summary), "PATH": path}
            done("bash", "-ec", step["run"], cwd=gate.place, status=(0, 1, 3), **env)
    assert summary.read_text(encoding="utf-8").startswith("# mine against baseline")
    assert "<testcase" in (gate.place / "gate.xml").read_text()
