"""The files that a lab's check compiles in place of libmini's own, in build/mine/NN.

    work/libmini/a.cpp                a file with regions of labs 07 and 09, both begun
    build/mine/07/libmini/a.cpp       the learner's file with the reference's body of lab 09
    build/mine/09/libmini/a.cpp       ... of lab 07

So an unfinished region of lab 07 fails lab 07, and no later lab. Files of work/ without a
region of the lab are left out, except files that the learner has added, which the
reference does not have. With #line the compiler and the sanitizers name the learner's
file and line.

A header with a region of the lab is always written, with the reference's text if the
learner's header is missing or left out: then each file that includes the header is
compiled again when the learner changes it.
"""

import os

from lab_tool.places import BUILD
from lab_tool.regions import SUFFIXES, with_bodies
from lab_tool.screen import LabError

NO_LAB = "none"  # stands for the files of the reference that have no region


def folder_of(lab, build=BUILD):
    return build / "mine" / lab


def project(workspace, lab, mine=None, build=BUILD, without=()):
    """Writes the files of a lab's check, and deletes old files. `mine`: the labs whose
    code is taken from the learner, by default this lab alone; it may contain NO_LAB.
    `without`: the learner's files that are left out; if such a file is a header with a
    region, the reference's header is written. Does not write unchanged files again, so
    that they are not compiled again."""
    folder = folder_of(lab, build)
    texts = {path: f'#line 1 "{path}"\n' + workspace.reference(path)
             for path in headers_of(workspace.catalogue, lab)}
    texts.update({path: text for path, text in files_of(workspace, mine or {lab}).items()
                  if path not in without})
    write_all(folder, {folder / path: text for path, text in texts.items()})


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


def headers_of(catalogue, lab):
    """Returns the paths of the headers with regions of a lab."""
    return list(dict.fromkeys(region.path for region in catalogue.regions_of(lab=lab)
                              if region.in_header))


def files_of(workspace, mine):
    """Returns {path: text} of the learner's files to compile or to include."""
    found = {}
    hunts = {lab.hunt for lab in workspace.catalogue.labs}
    for own in sorted(workspace.folder.rglob("*")):
        path = own.relative_to(workspace.folder)
        hidden = any(part.startswith(".") for part in path.parts)
        if own.suffix not in SUFFIXES or hidden or not own.is_file():
            continue
        path = path.as_posix()
        if path in hunts:
            continue
        labs = {region.lab for region in workspace.catalogue.regions if region.path == path}
        if not labs and (workspace.root / path).exists():
            labs = {NO_LAB}
        if not labs or labs & mine:
            found[path] = projected(workspace, path, mine)
    return found


def projected(workspace, path, mine):
    """Returns the text of a learner's file with the reference's bodies of all labs but
    `mine`."""
    text, head = workspace.mine(path), f'#line 1 "work/{path}"\n'
    theirs = {}  # the reference's regions by task, in the order of the calls of body_of
    for region in reversed(workspace.catalogue.regions):
        if region.path == path and region.lab not in mine:
            theirs.setdefault(region.task, []).append(region)

    def body_of(region):
        if not theirs.get(region.task):
            return None
        reference = theirs[region.task].pop(0)
        return [f'#line {reference.first + 2} "{path}"', *reference.body,
                f'#line {region.last + 1} "work/{path}"']

    try:
        return head + with_bodies(text, path, body_of)
    except LabError:  # a marker is missing: the file is compiled as it is
        return head + text
