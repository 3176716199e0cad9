"""Make an environment with the packages of requirements.txt: python3 helpers/install.py .venv

Needs Python's standard library only, and uses uv where it is there. A package without a wheel for
this system is built from source. One that cannot be is named and left out, the others are there.
"""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

LOWEST, BEYOND = (3, 11), (3, 15)
LOCK = Path("requirements.txt")  # the site has its own
GIVE_UP_AFTER = 3  # packages that fail before any was installed: there is no network
SETTINGS = {  # of JupyterLab: no request to the network; saved often, for make progress
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/docmanager-extension:plugin": {"autosaveInterval": 10},
}


def set_up(folder: Path, lock: Path = LOCK) -> int:
    """Make the environment and return the exit status; `ready` in it says that all is there."""
    uv, locked = shutil.which("uv"), lock.read_text(encoding="utf-8")
    blocks = re.split(r"\n(?=\S+==)", f"\n{locked}")[1:]  # a package may have two versions
    if problem := wrong_python(uv) or wrong_folder(folder):
        print(problem)
        return 1
    size = f"up to {len(blocks)} packages, {'0.9' if lock == LOCK else '0.2'} GB"
    minutes = "on a fast network two minutes with pip, half a minute with uv"
    print(f"setting up {folder}, once for each {lock}: {size}, {minutes}", flush=True)
    make = [sys.executable, "-m", "venv", "--clear"]
    make = [uv, "venv", "--quiet", "--clear", "--python", sys.executable] if uv else make
    subprocess.run([*make, str(folder)], check=True)
    missing = [] if install(folder, uv, locked, "all") else one_by_one(folder, uv, blocks)
    if missing:
        here = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
        print(f"missing: {' '.join(missing)}; no wheel for {here}, and it could not be built")
        print(f"({folder}/NAME.log says why); notebooks/installing.md, Without a wheel: what works")
        return 1
    settings = folder / "share" / "jupyter" / "lab" / "settings"
    settings.mkdir(parents=True, exist_ok=True)
    (settings / "overrides.json").write_text(json.dumps(SETTINGS), encoding="utf-8")
    (folder / "ready").touch()
    return 0


def wrong_python(uv: str | None) -> str:
    """Return why this Python will not do, "" if it will; one that is too new is only told."""
    span = f"Python {LOWEST[0]}.{LOWEST[1]} to {BEYOND[0]}.{BEYOND[1] - 1}"
    found = "{}.{}".format(*sys.version_info)
    if sys.version_info < LOWEST:
        return f"{span} is needed, found {found}: install it and name it: make PYTHON=python3.12"
    if sys.version_info >= BEYOND:
        print(f"Python {found} is newer than {span[7:]}: what has no wheel is built from source")
    try:
        import ensurepip  # noqa: F401 -- Debian's python3 comes without
    except ImportError:
        package = "its venv package (Debian, Ubuntu: apt install python3-venv) or uv"
        return "" if uv else f"{sys.executable} has no ensurepip: install {package}"
    return ""


def wrong_folder(folder: Path) -> str:
    """Return why no environment is made in a folder, "" if one can be."""
    if not folder.is_symlink():
        return ""
    leads = f"{folder} is a link to {folder.resolve()}, and a set-up deletes all that is there"
    return f"{leads}: remove the link, then run this again"


def install(folder: Path, uv: str | None, pins: str, name: str) -> bool:
    """Install pinned packages, and say in NAME.log why not; return whether all are there."""
    wanted = folder / "wanted.txt"
    python = str(folder / ("Scripts" if os.name == "nt" else "bin") / "python")
    wanted.write_text(pins, encoding="utf-8")
    tool = [python, "-m", "pip", "install", "--disable-pip-version-check"]
    tool = [uv, "pip", "install", "--python", python, "--compile-bytecode"] if uv else tool
    words = ["--quiet", "--no-deps", "--require-hashes", "--requirement", str(wanted)]
    with (folder / f"{name}.log").open("w", encoding="utf-8") as log:
        return subprocess.run([*tool, *words], stdout=log, stderr=log).returncode == 0


def one_by_one(folder: Path, uv: str | None, blocks: list[str]) -> list[str]:
    """Install each package by itself; return those that cannot be, or stop without a network."""
    missing: list[str] = []
    for number, block in enumerate(blocks, 1):
        name = re.split(r"\[|==", block)[0]
        if not install(folder, uv, f"{block}\n", name):
            missing.append(name)
        if len(missing) == number == GIVE_UP_AFTER:
            sys.exit((folder / "all.log").read_text(encoding="utf-8"))
    return missing


if __name__ == "__main__":
    sys.exit(set_up(*map(Path, sys.argv[1:])))
