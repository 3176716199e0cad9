"""What the tests of the readers have in common."""

import os

import pytest
from conftest import write_rows

from helpers.label import readers, write
from helpers.measure import evalset


def options(kind, path, **more):
    return readers.Options(kind, str(path), **more)


def task(kind="table", path="p", **more):
    return readers.Task(options(kind, path, **more))


def read(kind, path, **more):
    own = task(kind, path, **more)
    return write.READERS[kind][0](own), own


def bring(kind, path, to, **more):
    """Import and return what was printed and the folder, loaded."""
    lines = write.import_into(options(kind, path, **more), to)
    return lines, evalset.load(to)


def refused(call, *arguments, **more):
    with pytest.raises(evalset.EvalSetError) as caught:
        call(*arguments, **more)
    return caught.value.problems


def problems(kind, path, to, **more):
    """Return the problems of an import that must fail and leave nothing behind."""
    before = sorted(to.parent.iterdir())
    found = refused(write.import_into, options(kind, path, **more), to)
    assert sorted(to.parent.iterdir()) == before
    return [p.replace(f"{path}{os.sep}", "").replace(os.sep, "/") for p in found]


def put(path, text):
    """Write a file below a folder that may be missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def beir_folder(path):
    """Write and return a BEIR folder: four documents, three queries, labels of dev and test."""
    path.mkdir()
    write_rows(
        path / "corpus.jsonl",
        {"_id": "d1", "title": "Disk", "text": "Delete logs."},
        {"_id": "d2", "title": "", "text": "Add a consumer."},
        {"_id": 3, "title": "Only a title", "text": ""},
        {"_id": "a/b #4", "title": "Odd id", "text": "Spaces and signs."},
    )
    write_rows(
        path / "queries.jsonl",
        {"_id": "1", "text": "disk is full", "metadata": {}},
        {"_id": 2, "text": "queue"},
        {"_id": "3", "text": "never judged"},
    )
    head = "query-id\tcorpus-id\tscore\n"
    put(path / "qrels" / "test.tsv", head + "1\td1\t2\n1\td2\t0\n1\ta/b #4\t1\n")
    put(path / "qrels" / "dev.tsv", head + "2\t3\t1\n")
    return path
