"""The files that a lab's check compiles in place of libmini's own, in build/mine/NN.

    work/libmini/a.cpp                a file with regions of lab 07
    build/mine/07/libmini/a.cpp       the same text, with #line: the compiler and the sanitizers
                                      name the learner's file and line

An unfinished file of lab 07 fails lab 07, and no later lab: files of work/ without a region of the
lab are left out, except files that the learner has added, which the reference does not have.
"""

import os

from lab_tool.places import BUILD
from lab_tool.regions import SUFFIXES

NO_LAB = "none"  # stands for the files of the reference that have no region


def folder_of(lab, build=BUILD):
    return build / "mine" / lab


def project(workspace, lab, mine=None, build=BUILD, without=()):
    """Writes the files of a lab's check, and deletes old files. `mine`: the labs whose
    code is taken from the learner, by default this lab alone; it may contain NO_LAB.
    `without`: the learner's files that are left out. Does not write unchanged files again, so
    that they are not compiled again."""
    folder = folder_of(lab, build)
    write_all(folder, {folder / path: f'#line 1 "work/{path}"\n' + workspace.mine(path)
                       for path in files_of(workspace, mine or {lab}) if path not in without})


def write_all(folder, wanted):
    """Makes {path: text} the only files of a folder; unchanged files are not written again."""
    for old in (sorted(folder.rglob("*")) if folder.exists() else ()):
        if old.is_file() and old not in wanted:
            old.unlink()
    for path, text in wanted.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.with_name(f".{path.name}.{os.getpid()}")
            temporary.write_text(text, encoding="utf-8")
            os.replace(temporary, path)


def files_of(workspace, mine):
    """Returns the paths of the learner's files to compile or to include."""
    found = []
    hunts = {lab.hunt for lab in workspace.catalogue.labs}
    for own in sorted(workspace.folder.rglob("*")):
        path = own.relative_to(workspace.folder)
        hidden = any(part.startswith(".") for part in path.parts)
        path = path.as_posix()
        if own.suffix not in SUFFIXES or hidden or not own.is_file() or path in hunts:
            continue
        is_added = not (workspace.root / path).exists()
        lab = workspace.catalogue.lab_of.get(path, NO_LAB)
        if lab in mine or lab == NO_LAB and is_added:
            found.append(path)
    return found
