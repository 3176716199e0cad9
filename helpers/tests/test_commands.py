"""python -m helpers: what a command imports and reads, and its exit status."""

import subprocess
import sys

from helpers import __main__, evalset


def test_help_imports_nothing_that_takes_time():
    code = (
        "import sys; from helpers import __main__; __main__.parser(None).format_help(); "
        "print(*sorted({m.partition('.')[0] for m in sys.modules} & set(sys.argv[1].split())))"
    )
    slow = "numpy scipy pandas matplotlib sklearn nbformat tiktoken yaml ir_measures IPython"
    command = [sys.executable, "-c", code, slow]
    done = subprocess.run(command, cwd=evalset.DEFAULT.parent, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.split() == [], done


def test_a_command_reads_its_folder_once(folder, monkeypatch, capsys):
    read = []

    def counted(path=None, load=evalset.load):
        read.append(path)
        return load(path)

    monkeypatch.setattr(evalset, "load", counted)
    for words in (["audit"], ["freeze"], ["export", "--to", str(folder / "out")]):
        monkeypatch.setattr(sys, "argv", ["helpers", *words, "--evals", str(folder)])
        assert __main__.main() in (0, 1)
        assert read == [folder], words
        read.clear()
