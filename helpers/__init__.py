"""What the session notebooks, the commands and other programs share: files, measures, plots."""

from importlib import import_module

CALLS = {  # of the Python API: the function as room:name, imported when it is first asked for
    "load": "evalset:load",
    "read_run": "api:read_run",
    "compare_runs": "api:compare_runs",
    "evidence_by_query": "api:evidence_by_query",
    "audit_set": "labels.audit:folder_findings",
}


def __getattr__(name: str):
    if name in CALLS:
        room, function = CALLS[name].split(":")
        return getattr(import_module(f".{room}", __name__), function)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
