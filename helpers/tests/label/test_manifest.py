"""The manifest is the same twice, and names every file that is not as it was."""

import hashlib
import json
from importlib import metadata

import pytest
from labelled_sets import complete, document

from helpers.label import manifest
from helpers.measure import evalset


@pytest.fixture
def small(folder):
    return complete(folder)


def test_manifest_is_the_same_twice_and_survives_windows_line_ends(small):
    path = manifest.write_manifest(evalset.load(small), {"b": 2, "a": 1})
    before = path.read_bytes()
    held = json.loads(before)
    assert before.decode() == json.dumps(held, indent=2, sort_keys=True) + "\n"
    hashes, guide = held.pop("files"), (small / "labeling_guide.md").read_bytes()
    assert hashes["labeling_guide.md"] == hashlib.sha256(guide).hexdigest() and len(hashes) == 7
    packages = ("rank_bm25", "bm25s", "scikit-learn", "tiktoken")
    assert held == {
        "counts": {"documents": 2, "queries": 2, "judgments": {"0": 2, "1": 1, "2": 1}},
        "seeds": {"a": 1, "b": 2},
        "versions": {name: metadata.version(name) for name in packages},
    }
    for file in [small / name for name in hashes]:
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert manifest.differences(small) == []
    assert manifest.write_manifest(evalset.load(small), {"a": 1, "b": 2}).read_bytes() == before


def test_manifest_names_changed_missing_and_added_files(small):
    document(small, "disk-full", "Other words.")
    (small / "corpus" / "queue-full.md").unlink()
    (small / "negatives.jsonl").unlink()
    document(small, "new", "New words.")
    (small / "pool.jsonl").touch()
    assert manifest.differences(small) == [
        "corpus/disk-full.md differs",
        "corpus/new.md is not in the manifest",
        "corpus/queue-full.md is missing",
        "negatives.jsonl is missing",
        "pool.jsonl is not in the manifest",
    ]


def test_a_broken_manifest_is_one_difference_and_one_that_an_editor_saved_is_read(small):
    path = small / "manifest.json"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert manifest.differences(str(small)) == []
    for broken in ('{"files": {}', "[]", "{}", '{"files": []}'):
        path.write_text(broken)
        assert manifest.differences(small) == [manifest.BROKEN], broken
    path.unlink()
    assert manifest.differences(small) == [manifest.NO_MANIFEST]
