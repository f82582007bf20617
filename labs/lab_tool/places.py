"""The paths of files and folders in the repository."""

import os
from pathlib import Path, PurePath

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
PRESET = "release"
BIN = BUILD / PRESET / "bin"


def shown(path):
    """Returns a path as the user would type it: relative to the current folder if it is inside."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def work_name(root, lab, path):
    """Returns the name in work/ for libmini's file `path`: "07-partition/partition.cpp"."""
    return f"{next((Path(root) / 'labs').glob(f'{lab}-*')).name}/{PurePath(path).name}"


def replace_file(path, text):
    """Writes a file; if the tool is killed, the old or the new file remains."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)


def fresh_log(name):
    """Creates an empty log build/<name>.log and returns its path."""
    BUILD.mkdir(exist_ok=True)
    path = BUILD / f"{name}.log"
    path.write_text("")
    return path
