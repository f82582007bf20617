"""The paths of files and folders in the repository."""

from pathlib import Path, PurePath

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"


def bin_dir(preset):
    return BUILD / preset / "bin"


def shown(path):
    """Returns a path as the user would type it: relative to the current folder if it is inside."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def work_name(root, lab, path):
    """Returns the name in work/ of the learner's file for libmini's file `path` with code of a lab:
    "07-partition/partition.cpp"."""
    return f"{next((Path(root) / 'labs').glob(f'{lab}-*')).name}/{PurePath(path).name}"


def fresh_log(name):
    """Creates an empty log build/<name>.log and returns its path."""
    BUILD.mkdir(exist_ok=True)
    path = BUILD / f"{name}.log"
    path.write_text("")
    return path
