"""Where things are in the repository."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"


def bin_dir(preset):
    return BUILD / preset / "bin"


def mnist_folder():
    """Where MNIST's files are, or None: what train_mnist looks through, in its order."""
    folders = [ROOT / "data" / "mnist"]
    if os.environ.get("MINI_DATA_DIR"):
        folders.insert(0, Path(os.environ["MINI_DATA_DIR"]) / "mnist")
    return next((folder for folder in folders if any(folder.glob("train-images*"))), None)


def shown(path):
    """A path as the user would type it: from the current folder when it lies below."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def fresh_log(name):
    """The path of an empty log build/<name>.log."""
    BUILD.mkdir(exist_ok=True)
    path = BUILD / f"{name}.log"
    path.write_text("")
    return path
