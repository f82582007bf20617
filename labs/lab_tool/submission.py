"""A submission: the learner's files of some labs in a zip, with a manifest.

    manifest.json                  {"version": 1, "libmini": commit, "labs": ["07"], "date": ...,
                                    "files": paths}
    07-partition/partition.cpp     the files of work/, without .lab.json and backups
    07-partition/bug_hunt.cpp

unpack() does not trust a submission: only sources in the folders of labs are written to work/."""

import json
import re
import shutil
import zipfile
from datetime import datetime, timezone
from lab_tool.places import ROOT
from lab_tool.process import commit_of
from lab_tool.projection import PROGRAMS, files_of
from lab_tool.regions import SUFFIXES
from lab_tool.screen import LabError

MANIFEST = "manifest.json"
MARK = ".submission"  # in a work/ that unpack() has written
NAME = re.compile(r"\d\d-[\w-]+/[^/\\]+")
SKIPPED = re.compile(r"/$|(?:^|/)(?:__MACOSX/|\.(?![./]))")  # folders, .DS_Store, but not ../a
MOST_FILES, MOST_BYTES = 1000, 16 << 20


def pack(workspace, labs, target):
    paths = paths_of(workspace, labs)
    manifest = {"version": 1, "libmini": (workspace.catalogue.course or {}).get("libmini")
                or commit_of(workspace.root),
                "labs": [lab.number for lab in labs],
                "date": datetime.now(timezone.utc).isoformat(timespec="seconds"), "files": paths}
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w") as file:
        file.writestr(zipfile.ZipInfo(MANIFEST), json.dumps(manifest, indent=1))
        for path in paths:
            file.writestr(zipfile.ZipInfo(path), (workspace.folder / path).read_bytes(),
                          zipfile.ZIP_DEFLATED)
    return manifest


def paths_of(workspace, labs):
    """Returns the paths of the labs' files in work/: sources, bug hunts, tests, and added files."""
    for lab in labs:
        for path in workspace.catalogue.files_of(lab.number):
            if workspace.mine(path) is None:
                raise LabError(f"{workspace.shown(path)} is missing; run: labs/lab start {lab.number}")
    programs = [f"{own.parent.name}/{own.name}" for lab in labs
                for own in (workspace.folder / lab.folder.name).iterdir()
                if own.stem in PROGRAMS and own.suffix in SUFFIXES]
    refuse_links(workspace.folder)
    return sorted({*files_of(workspace, {lab.number for lab in labs}).values(), *programs})


def refuse_links(folder):
    for path in folder.rglob("*"):
        if path.is_symlink() and not path.resolve().is_relative_to(folder.resolve()):
            raise LabError(f"work/{path.relative_to(folder)} is a link to {path.resolve()}, "
                           "outside of work/; replace it by a file")


def unpack(path, root=ROOT):
    """Writes the files of a zip or a folder to work/. Never replaces a learner's work/."""
    work = root / "work"
    if work.exists() and not (work / MARK).exists():
        raise LabError("work/ has a learner's work; grade submissions in another clone")
    contents = read_zip(path) if path.is_file() else read_folder(path)
    contents = {name.removeprefix("work/"): data for name, data in contents.items()
                if name != MANIFEST}
    for name in contents:
        if not NAME.fullmatch(name) or not name.endswith(SUFFIXES):
            raise LabError(f"the submission has the file {name}; it may have only sources "
                           f"({', '.join(SUFFIXES)}) in labs' folders, as 07-partition/partition.cpp")
    if not contents:
        raise LabError(f"{path} has no source in a lab's folder; make the zip with labs/lab submit")
    shutil.rmtree(work, ignore_errors=True)
    for name, data in contents.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_bytes(data)
    (work / MARK).write_text(f"{path}\n", encoding="utf-8")


def read_zip(path):
    try:
        with zipfile.ZipFile(path) as file:
            entries = [entry for entry in file.infolist() if not SKIPPED.search(entry.filename)]
            refuse_size(len(entries), sum(entry.file_size for entry in entries))
            return {entry.filename: file.read(entry) for entry in entries}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise LabError(f"{path} is not a zip that can be read: {error}") from None


def read_folder(path):
    if not path.is_dir():
        raise LabError(f"{path}: there is no such submission")
    files = [each for each in sorted(path.rglob("*")) if each.is_file() and not each.is_symlink()
             and not SKIPPED.search(each.relative_to(path).as_posix())]
    refuse_size(len(files), sum(each.stat().st_size for each in files))
    return {each.relative_to(path).as_posix(): each.read_bytes() for each in files}


def refuse_size(files, size):
    if files > MOST_FILES or size > MOST_BYTES:
        raise LabError(f"the submission has {files} files of {size} bytes; at most {MOST_FILES} "
                       f"files and {MOST_BYTES} bytes")
