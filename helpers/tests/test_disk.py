"""Files are read within bounds and written whole, whoever is killed."""

import errno
import gzip
import os
import re
import shutil
import socket
import tempfile
import time
from pathlib import Path

import killed
import pytest

from helpers import files

# Lines.


def test_lines_come_with_their_places_and_empty_ones_are_counted_only(tmp_path):
    content = "\ufeffone \n\n \t\r\n two\r\nthree".encode()
    (tmp_path / "a.txt").write_bytes(content)
    (tmp_path / "a.gz").write_bytes(gzip.compress(content))
    for path in (tmp_path / "a.txt", tmp_path / "a.gz", str(tmp_path / "a.gz")):
        wanted = [(f"{path}:1", "one "), (f"{path}:4", " two"), (f"{path}:5", "three")]
        assert [*files.lines(path, pytest.fail)] == wanted


def test_only_the_line_ends_that_are_asked_for_end_a_line(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"x\ry\r\nz\n")
    assert [line for _, line in files.lines(path, pytest.fail)] == ["x", "y", "z"]
    assert [line for _, line in files.lines(path, pytest.fail, newline="\n")] == ["x\ry", "z"]


def test_bytes_that_are_not_utf8_are_told_and_the_next_line_is_read(tmp_path):
    path, said = tmp_path / "a", []
    path.write_bytes(b"a\n\x80b\xff\nc\n\xff\n")
    assert [*files.lines(path, said.append)] == [(f"{path}:1", "a"), (f"{path}:3", "c")]
    assert said == [
        f"{path}:2: byte 0x80 is not UTF-8, save the file as UTF-8",
        f"{path}:4: byte 0xff is not UTF-8, save the file as UTF-8",
    ]


def test_a_file_of_which_nothing_can_be_read_is_told_at_its_first_line(tmp_path):
    whole = gzip.compress(b"first\nsecond\n")
    for name, content, reason in (
        ("none.txt", None, "No such file or directory"),
        ("none.gz", None, "No such file or directory"),
        ("plain.gz", b"first\n", "Not a gzipped file (b'fi')"),
        ("bad.gz", whole[:10] + b"\xff" + whole[11:], "Error -3 while decompressing data"),
    ):
        path, said = tmp_path / name, []
        if content is not None:
            path.write_bytes(content)
        assert [*files.lines(path, said.append)] == []
        (told,) = said
        assert told.startswith(f"{path}:1: cannot be read ({reason}")
        assert told.endswith("), wanted a readable file")


def test_reading_that_ends_midway_is_told_at_the_last_line_read(tmp_path):
    path, said = tmp_path / "a.gz", []
    whole = gzip.compress(b"".join(b"%d\n" % (n * n * n) for n in range(20_000)))
    path.write_bytes(whole[:-20])
    found = [*files.lines(path, said.append)]
    assert len(found) > 1000 and said[0].startswith(f"{found[-1][0]}: cannot be read (Compressed")


# Pages.


def test_a_page_has_no_mark_and_one_kind_of_line_end(tmp_path):
    path, said = tmp_path / "a.md", []
    path.write_bytes("\ufeffa\r\nb\rc\n\n".encode())
    assert files.page(path, pytest.fail) == "a\nb\nc\n\n"
    path.write_bytes(b"a\nb\n\nc\xe9\n")
    assert files.page(path, said.append) is None
    assert files.page(tmp_path / "none.md", said.append) is None
    assert said == [
        f"{path}:4: byte 0xe9 is not UTF-8, save the file as UTF-8",
        f"{tmp_path / 'none.md'}:1: cannot be read (No such file or directory), "
        "wanted a readable file",
    ]


@pytest.mark.parametrize(
    ("page", "wanted"),
    [
        ("---\ntitle: A\n---\nbody\n", ({"title": "A"}, "body\n")),
        ("---\ntitle: A\n--- \t\n\nbody", ({"title": "A"}, "\nbody")),
        ("---\ntitle: A\n---", ({"title": "A"}, "")),
        ("---\na: no\nb: 2.0\n---\n", ({"a": "no", "b": "2.0"}, "")),
        ("---\na: 2026-04-08\n---\n", ({"a": "2026-04-08"}, "")),
        ("---\na: 1\n---\n---\nb: 2\n---\n", ({"a": "1"}, "---\nb: 2\n---\n")),
        ("---\na: 1\n---- x\n", None),
        ("---\na: 1\n", None),
        ("\n---\na: 1\n---\n", None),
        ("----\na: 1\n---\n", None),
        ("body\n", None),
        ("", None),
    ],
)  # fmt: skip
def test_front_matter_stands_first_between_two_lines_and_is_text(tmp_path, page, wanted):
    assert files.front_matter(tmp_path, page, pytest.fail) == wanted


@pytest.mark.parametrize(
    ("block", "told"),
    [
        (
            "a: 1\nb: [2",
            "4: bad front matter (expected ',' or ']', but got '<stream end>'), wanted",
        ),
        ("a: b: c", "2: bad front matter (mapping values are not allowed here), wanted YAML"),
        ("a: 1\nb: c: d", "3: bad front matter (mapping values are not allowed here), wanted YAML"),
        ("a: 1\nb: \x07", "3: bad front matter (character #x0007), wanted YAML"),
        ("\n\x07", "3: bad front matter (character #x0007), wanted YAML"),
        ("\x07", "2: bad front matter (character #x0007), wanted YAML"),
        ("- a", "2: bad front matter (a list), wanted lines such as title: "),
        ("[]", "2: bad front matter (a list), wanted lines such as title: "),
        ("a", "2: bad front matter (text), wanted lines such as title: "),
        ("# a", "2: bad front matter (no fields), wanted lines such as title: "),
    ],
)
def test_a_block_without_fields_is_told_at_its_line_and_gives_none(block, told):
    said = []
    assert files.front_matter("p.md", f"---\n{block}\n---\nbody", said.append) == ({}, "body")
    assert len(said) == 1 and said[0].startswith(f"p.md:{told}") and "\n" not in said[0]


# Writing.


def test_a_file_is_written_as_it_stands_in_folders_that_are_made(tmp_path):
    path = tmp_path / "a" / "b" / "c.txt"
    for content in ("é\r\n\n", ""):
        files.write(path, content)
        assert path.read_bytes() == content.encode()
    assert [*path.parent.iterdir()] == [path]


def test_a_file_is_replaced_in_one_step_under_a_name_of_its_own(tmp_path, monkeypatch):
    moved, replace = [], os.replace
    monkeypatch.setattr(os, "replace", lambda a, b: moved.append((a.name, b.name)) or replace(a, b))
    for _ in "ab":
        files.write(tmp_path / "new" / "a.txt", "x")
    parts, names = zip(*moved, strict=True)
    assert names == ("a.txt", "a.txt") and len({*parts}) == 2
    assert all(re.fullmatch(rf"a\.txt\.[\da-f]+-{os.getpid()}-[\da-f]+\.part", p) for p in parts)
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["a.txt"]


def test_a_write_that_fails_leaves_the_former_file_and_nothing_else(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError("disk full")

    files.write(tmp_path / "a.txt", "x")
    for what in ("replace", "fsync"):
        with monkeypatch.context() as patched, pytest.raises(OSError, match="disk full"):
            patched.setattr(os, what, fail)
            files.write(tmp_path / "a.txt", "y")
        assert [path.read_text() for path in tmp_path.iterdir()] == ["x"]


@pytest.mark.parametrize("at", [1, 2, 3])
def test_several_files_that_fail_leave_the_former_and_nothing_else(tmp_path, monkeypatch, at):
    """The third is the file that says that both are whole."""
    calls = []

    def fail(file):
        calls.append(file)
        if len(calls) == at:
            raise OSError("disk full")

    files.write(tmp_path / "a", "x")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        files.write_all(tmp_path, {"a": "y", "b": "y"})
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a", "x")]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")
def test_a_file_has_the_mode_that_the_umask_says(tmp_path):
    before = os.umask(0o027)
    try:
        files.write(tmp_path / "a", "x")
        files.write_all(tmp_path, {"b": "x"})
    finally:
        os.umask(before)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in "ab"] == [0o640, 0o640]


@pytest.mark.proof
def test_two_writers_at_once_tear_no_file(tmp_path):
    code = (
        "import sys; from pathlib import Path; from helpers import files\n"
        "for n in range(60): files.write(Path(sys.argv[1]), sys.argv[2] * 50_000)"
    )
    writers = [killed.python(code, tmp_path / "a", letter) for letter in "xy"]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        if (tmp_path / "a").exists():
            seen.add((tmp_path / "a").read_text())
    assert [writer.returncode for writer in writers] == [0, 0]
    assert seen <= {"x" * 50_000, "y" * 50_000} and [*tmp_path.iterdir()] == [tmp_path / "a"]


# Killed: at which step does not matter.


def dead():
    """Return the stamp of a process of this machine that is no more."""
    gone = killed.python("pass")
    gone.wait()
    return f"{files._host()}-{gone.pid}-00000000"


@pytest.mark.proof
def test_several_files_are_all_written_or_none(tmp_path):
    code = "files.write_all(Path(sys.argv[2]), {'a': 'new', 'b': 'new', 'c': 'new'})"
    found = []
    for step in range(12):
        folder = tmp_path / str(step)
        for name in "ab":
            files.write(folder / name, "old")
        cut = killed.at(step, code, folder)
        files.settle(folder)
        found.append({path.name: path.read_text() for path in folder.iterdir()})
        if not cut:
            break
    old, new = {"a": "old", "b": "old"}, dict.fromkeys("abc", "new")
    assert not cut and found == [old] * found.count(old) + [new] * found.count(new)
    assert found.count(old) == 3 and found.count(new) >= 4


@pytest.mark.proof
def test_a_folder_takes_the_place_of_another_whole_or_not_at_all(tmp_path):
    code = (
        "with files.new_folder(Path(sys.argv[2])) as part:\n"
        " files.write(part / 'new', '')\nos._exit(0)"
    )
    found = []
    for step in range(12):
        to = tmp_path / str(step) / "to"
        files.write(to / "old", "")
        cut = killed.at(step, code, to)
        files.settle(to.parent)
        found.append([str(p.relative_to(to.parent)) for p in sorted(to.parent.rglob("*"))])
        if not cut:
            break
    assert not cut and found[0] == ["to", "to/old"] and found[-1] == ["to", "to/new"]
    assert {*map(tuple, found)} == {("to", "to/old"), ("to", "to/new")}


def test_a_folder_that_fails_leaves_nothing_not_even_those_above(tmp_path):
    with pytest.raises(KeyError), files.new_folder(tmp_path / "a" / "b" / "to") as part:
        files.write(part / "x" / "y", "")
        raise KeyError
    assert [*tmp_path.iterdir()] == []


def test_what_a_killed_run_left_is_cleared_and_nothing_else(tmp_path):
    stamp, host = dead(), files._host()
    ours = f"{host}-{os.getpid()}-00000000"
    other = "00000000-1-00000000" if host != "00000000" else "11111111-1-00000000"
    stay = [f"a.{ours}.part", f"a.{other}.part", "a.part", "part", f"a.{stamp}.part.md", "b.whole"]
    for name in (*stay, f"a.{stamp}.part", f"old.{other}.part", f"with\nend.{stamp}.part"):
        (tmp_path / name).write_text("")
    put = tmp_path / f"folder.{stamp}.part"
    files.write(put / "b" / "c", "")
    before = time.time() - files.DAY - 60
    os.utime(tmp_path / f"old.{other}.part", (before, before))
    files.write(tmp_path / "x", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*stay, "x"])
    files.settle(tmp_path / "none")


def test_the_number_of_a_dead_process_may_belong_to_a_younger_one(tmp_path):
    part = tmp_path / f"a.{files._host()}-{os.getpid()}-00000000.part"
    part.write_text("")
    os.utime(part, (time.time() - 9e6,) * 2)  # before this process was started
    files.settle(tmp_path)
    assert not part.exists()


# Bounds.


def bounded(path):
    """Return what is said of a file that is read by lines and as a page."""
    said = []
    kept = [*files.lines(path, said.append)], files.page(path, said.append)
    return kept, [line.removeprefix(f"{path}:") for line in said]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no FIFOs in folders")
def test_what_may_never_end_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    short = Path(tempfile.mkdtemp(dir="/tmp")) / "s"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(short))
        for path, what in ((tmp_path / "fifo", "FIFO"), (short, "socket"), ("/dev/zero", "device")):
            kept, said = bounded(Path(path))
            assert said == [f"1: is a {what}, wanted a regular file"] * 2 and kept == ([], None)
    shutil.rmtree(short.parent)


def test_a_line_or_a_page_that_is_too_long_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LONGEST", 10)
    (tmp_path / "a").write_text("a\n" + "é" * 10 + "\n" + "b" * 11 + "\nc\n")
    kept, said = bounded(tmp_path / "a")
    assert said == [
        "2: the line is too long, wanted at most 10 characters",
        "1: the file is too long, wanted at most 10 bytes",
    ]
    assert kept == ([(f"{tmp_path / 'a'}:1", "a")], None)


def test_a_file_that_unpacks_without_end_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "SMALL", 1000)
    path, said = tmp_path / "a.gz", []
    path.write_bytes(gzip.compress(b"\n" * 1_000_000))
    assert [*files.lines(path, said.append)] == []
    (told,) = said
    assert told.endswith(
        ": the file unpacks to more than 200 times its size, wanted text "
        "(unpack it yourself if it is)"
    )
    path.write_bytes(gzip.compress(b"a\n" * 400))
    assert len([*files.lines(path, pytest.fail)]) == 400


@pytest.mark.proof
@pytest.mark.parametrize(
    ("block", "told"),
    [
        ("a: &x [1]\nb: *x", "3: bad front matter (*x repeats a part, and aliases are not read)"),
        ("a: 1\nb: 2\na: 3", "4: bad front matter (key a stands twice)"),
        ("[" * 5000, "2: bad front matter (nested too deeply), wanted YAML"),
        ("a: " + "b" * files.FRONT, "2: bad front matter (100,004 characters), wanted lines"),
        ("? [a]\n: 1\n? [a]\n: 2", "2: bad front matter (found unhashable key), wanted YAML"),
    ],
)
def test_front_matter_that_bursts_or_contradicts_itself_ends_at_once(block, told):
    said = []
    assert files.front_matter("p.md", f"---\n{block}\n---\nbody", said.append) == ({}, "body")
    assert len(said) == 1 and said[0].startswith(f"p.md:{told}")


def test_a_bomb_of_aliases_ends_at_once():
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9)
    )
    said, start = [], time.perf_counter()
    assert files.front_matter("p.md", f"---\n{bomb}---\n", said.append) == ({}, "")
    assert "aliases are not read" in said[0] and time.perf_counter() - start < 2


@pytest.mark.parametrize("name", [None, "own", "other"])
def test_an_error_of_the_disk_names_what_was_wanted_and_no_part_of_it(tmp_path, name):
    for put in (files.new_file, files.new_folder):
        with pytest.raises(OSError) as caught, put(tmp_path / "wanted") as part:
            named = {"own": str(part), "other": "/else"}.get(name)
            raise OSError(errno.ENOSPC, "No space left on device", named)
        assert caught.value.filename == ("/else" if name == "other" else str(tmp_path / "wanted"))
    with pytest.raises(OSError) as caught:
        files.write_all(tmp_path, {"a": "x", "no/b": "y"})
    assert caught.value.filename == str(tmp_path) and not [*tmp_path.iterdir()]


def test_an_interrupt_while_parts_get_their_names_leaves_all_of_them_named(tmp_path, monkeypatch):
    calls = []

    def replace(part, path, replace=os.replace):
        calls.append(path)
        if len(calls) == 2:
            raise KeyboardInterrupt
        replace(part, path)

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(KeyboardInterrupt):
        files.write_all(tmp_path, {"a": "x", "b": "y"})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "x", "b": "y"}
