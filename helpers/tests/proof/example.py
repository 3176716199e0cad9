"""The example of comparing.md that cuts with LangChain, as it stands: make proof ONLY=langchain.

What it writes is compared. Where the package is not installed, it says so.
"""

import importlib.util
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
NEEDED = "langchain_text_splitters"
AS_INSTALLED = """
import sys
import helpers.measure.text
for name, room in [*sys.modules.items()]:
    if name.partition(".")[0] == "helpers":
        sys.modules[name.replace("helpers", "retrieval_baseline", 1)] = room
"""


def main() -> None:
    """Run the example in an empty folder, and compare on what it wrote."""
    if importlib.util.find_spec(NEEDED) is None:
        print(f"skipped, because {NEEDED} is not installed")
        return
    page = (ROOT / "notebooks" / "comparing.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    (code,) = (block for block in blocks if NEEDED in block)
    with tempfile.TemporaryDirectory() as scratch:
        code = f"{AS_INSTALLED}\n{code}"
        subprocess.run([sys.executable, "-c", code], cwd=scratch, check=True)
        (run,) = Path(scratch).iterdir()
        assert f"RUN={run.name}" in page, run.name
        words = ["-m", "helpers", "compare", str(run), "--to", scratch]
        done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    said = re.findall(r"^(?:## |- (?:Documents|Evidence): ).*", done.stdout, re.MULTILINE)
    assert len(said) == 3, done.stdout
    print(*said, sep="\n")


if __name__ == "__main__":
    main()
