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
GIVE_UP_AFTER = (
    3  # packages that fail one after the other before anything was installed: no network
)
SETTINGS = {  # of JupyterLab: no request to the network; saved often, for make progress
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/docmanager-extension:plugin": {"autosaveInterval": 10},
}


def set_up(folder: Path, lock: Path = Path("requirements.txt")) -> int:
    """Make the environment and return the exit status; `ready` in it says that all is there."""
    uv, locked = shutil.which("uv"), lock.read_text(encoding="utf-8")
    pins = pins_of(locked)
    if problem := wrong_python(uv):
        print(problem)
        return 1
    minutes = "half a minute with uv" if uv else "two minutes with pip, half a minute with uv"
    print(
        f"setting up {folder}, once for each {lock}: up to {len(pins)} packages, 0.9 GB, "
        f"on a fast network {minutes}",
        flush=True,
    )
    by_uv = [uv, "venv", "--quiet", "--clear", "--python", sys.executable]
    subprocess.run(
        [*(by_uv if uv else (sys.executable, "-m", "venv", "--clear")), str(folder)], check=True
    )
    whole = install(folder, uv, locked, "all")
    missing = [] if whole else one_by_one(folder, uv, pins)
    if missing:
        print(
            f"missing: {' '.join(missing)}; no wheel for Python {platform.python_version()} on "
            f"{platform.system()} {platform.machine()}, and it could not be built "
            f"({folder}/NAME.log says why)\nwhat does not use it works, by "
            f"{python_in(folder)} -m helpers COMMAND; notebooks/installing.md, Without a wheel, "
            "says what that is"
        )
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


def pins_of(lock: str) -> list[tuple[str, str]]:
    """Return (package, its lines with the hashes) of a lock; a package may have two versions."""
    blocks = re.split(r"\n(?=\S+==)", f"\n{lock}")[1:]
    return [(re.split(r"\[|==", block)[0], f"{block}\n") for block in blocks]


def python_in(folder: Path) -> Path:
    """Return the Python of an environment."""
    return folder / ("Scripts" if os.name == "nt" else "bin") / "python"


def install(folder: Path, uv: str | None, pins: str, name: str) -> bool:
    """Install pinned packages, and say in NAME.log why not; return whether all are there."""
    wanted = folder / "wanted.txt"
    wanted.write_text(pins, encoding="utf-8")
    python = str(python_in(folder))
    tool = [uv, "pip", "install", "--python", python, "--compile-bytecode"]
    pip = [python, "-m", "pip", "install", "--disable-pip-version-check"]
    words = ["--quiet", "--no-deps", "--require-hashes", "--requirement", str(wanted)]
    with (folder / f"{name}.log").open("w", encoding="utf-8") as log:
        done = subprocess.run([*(tool if uv else pip), *words], stdout=log, stderr=log)
    return not done.returncode


def one_by_one(folder: Path, uv: str | None, pins: list[tuple[str, str]]) -> list[str]:
    """Install each package by itself; return those that cannot be, or stop without a network."""
    missing: list[str] = []
    for number, (name, pin) in enumerate(pins, 1):
        if not install(folder, uv, pin, name):
            missing.append(name)
        if len(missing) == number == GIVE_UP_AFTER:
            sys.exit((folder / "all.log").read_text(encoding="utf-8"))
    return missing


if __name__ == "__main__":
    sys.exit(set_up(Path(sys.argv[1])))
