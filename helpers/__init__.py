"""Three doors: `measure`, what an engineer installs; `label`, making a set; `teach`, the course."""

from importlib import import_module

CALLS = {  # of the Python API: the function as room:name, imported when it is first asked for
    "load": "measure.evalset:load",
    "read_run": "measure.api:read_run",
    "compare_runs": "measure.api:compare_runs",
    "evidence_by_query": "measure.api:evidence_by_query",
    "audit_set": "label.audit:folder_findings",
}
FORMER = ("chunks", "compare", "evalset")  # the first import of each notebook of version 3
OLDER = (
    "this notebook is of an older version of the workbook: finish it with that version, or let "
    "`make learn FRESH=1` move it aside and write new copies"
)


def __getattr__(name: str):
    if name in CALLS:
        room, function = CALLS[name].split(":")
        return getattr(import_module(f".{room}", __name__), function)
    if name in FORMER and __name__ == "helpers":
        raise import_module(".measure.files", __name__).EvalSetError([OLDER])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
