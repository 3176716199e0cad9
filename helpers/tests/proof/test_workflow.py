"""GitHub's checks are the Makefile's own, on the systems and Pythons that installing.md names."""

import re

import yaml

from helpers import __main__
from helpers.teach import workbook

ROOT = workbook.ROOT
PAGE = (ROOT / ".github" / "workflows" / "check.yml").read_text(encoding="utf-8")
FLOW = yaml.load(PAGE, yaml.BaseLoader)  # "on" is no truth value there
INSTALLING = (ROOT / "notebooks" / "installing.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def ran(job):
    """Return the shell lines of a job's steps."""
    steps = FLOW["jobs"][job]["steps"]
    return [line for step in steps for line in step.get("run", "").splitlines()]


def test_every_target_and_command_that_is_called_exists():
    lines = [line for job in FLOW["jobs"] for line in ran(job)]
    targets = {line.split()[1] for line in lines if line.startswith("make ")}
    rules = re.findall(r"^([\w$()/]+):(?!=)", MAKEFILE, re.MULTILINE)
    assert targets <= {rule.replace("$(TOOLS)", ".cache/tools") for rule in rules}
    commands = {line.split()[3] for line in lines if line.startswith("python -m helpers ")}
    assert commands == {"report", "check"} == targets & {*__main__.COMMANDS} - {"site"}


def test_the_systems_and_pythons_are_those_of_the_page():
    (low, high) = re.search(r"Python (3\.\d+) to (3\.\d+)", INSTALLING).groups()
    assert f"Python {low} to {high}" in MAKEFILE
    matrix = FLOW["jobs"]["check"]["strategy"]["matrix"]
    assert matrix["python"] == [low, high]
    systems = re.search(r"On (\w+) x86-64, (\w+) ARM64 and (\w+) x86-64 every", INSTALLING).groups()
    named = {"Linux": "ubuntu", "macOS": "macos", "Windows": "windows"}
    assert matrix["os"] == [f"{named[system]}-latest" for system in systems]
    assert {*re.findall(r'python-version: "(.+)"', PAGE)} == {high}


def test_the_workflow_to_copy_shows_that_a_search_is_not_worse_and_may_only_read():
    page = (ROOT / "notebooks" / "comparing.md").read_text(encoding="utf-8")
    flow = yaml.safe_load(re.search(r"```yaml\n(name: .*?)```", page, re.DOTALL)[1])
    assert flow["permissions"] == {"contents": "read"}
    commands = [step.get("run", "") for step in flow["jobs"]["gate"]["steps"]]
    (line,) = (line for line in commands if line.startswith("retrieval-baseline "))
    options = vars(__main__.parser("compare").parse_args(line.split()[1:]))
    assert options["gate"] == "not-worse" and options["no_new_failures"] and options["junit"]
