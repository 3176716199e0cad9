"""The manifest is the same twice, and names every file that is not as it was."""

import json

import pytest
from labelled_sets import add_pool, complete, document

from helpers import evalset
from helpers.labels import manifest


@pytest.fixture
def small(folder):
    return complete(folder)


def test_manifest_is_the_same_twice_and_survives_windows_line_ends(small):
    path = manifest.write_manifest(evalset.load(small), {"b": 2, "a": 1})
    before = path.read_bytes()
    held = json.loads(before)
    assert held["counts"] == {
        "documents": 2,
        "queries": 2,
        "judgments": {"0": 2, "1": 1, "2": 1},
    }
    assert list(held) == sorted(held) and list(held["seeds"]) == ["a", "b"]
    assert sorted(held["versions"]) == sorted(manifest.VERSIONED) and len(held["files"]) == 7
    for name in held["files"]:
        file = small / name
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert manifest.differences(small) == []
    assert manifest.write_manifest(evalset.load(small), {"a": 1, "b": 2}).read_bytes() == before


def test_manifest_names_changed_missing_and_added_files(small):
    document(small, "disk-full", "Other words.")
    (small / "corpus" / "queue-full.md").unlink()
    (small / "negatives.jsonl").unlink()
    document(small, "new", "New words.")
    add_pool(small)
    assert manifest.differences(small) == [
        "corpus/disk-full.md differs",
        "corpus/new.md is not in the manifest",
        "corpus/queue-full.md is missing",
        "negatives.jsonl is missing",
        "pool.jsonl is not in the manifest",
    ]
