"""The files that a build compiles in place of libmini's own, in build/mine.

    build/mine/07/libmini/data/partition.cpp      for the check of lab 07: includes the learner's file,
                                                  which compilers and sanitizers then name
    build/mine/work/libmini/data/partition.cpp    the same, for programs with the code of all labs;
                                                  CMake runs main() (MiniOverlay)

A file with kernels is copied, with #line. A source that the learner has added is compiled with the
lab's first file. An unfinished file of lab 07 fails lab 07, and no later lab."""

from pathlib import PurePath

from lab_tool.places import BUILD, replace_file
from lab_tool.regions import HEADERS, SUFFIXES

OWN_TEST = "my_test.cpp"  # see labs/lab test-yours
PROGRAMS = ("bug_hunt", "my_test")  # the files that are programs of their own


def own_test(workspace, lab):
    return workspace.folder / lab.folder.name / OWN_TEST


def folder_of(lab, build=BUILD):
    return build / "mine" / lab


def project(workspace, lab, mine=None, build=BUILD, without=()):
    """Writes the files of a lab's check. `mine`: the labs whose code is taken from the learner, by
    default this lab alone. `without`: names in work/ of files that are left out."""
    write(workspace, folder_of(lab, build), {
        path: name for path, name in files_of(workspace, mine or {lab}).items() if name not in without})


def write(workspace, folder, files):
    write_all(folder, {folder / path: text_of(workspace.folder / name, name)
                       for path, name in files.items() if not name.endswith(HEADERS)})


def text_of(own, name):
    if own.suffix == ".cu":
        return f'#line 1 "work/{name}"\n' + own.read_text(encoding="utf-8")
    return f'#include "{own}"\n'


def write_all(folder, wanted):
    """Makes {path: text} the only files of a folder. Unchanged files are not compiled again."""
    for old in (sorted(folder.rglob("*")) if folder.exists() else ()):
        if old.is_file() and old not in wanted:
            old.unlink()
    for path, text in wanted.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            replace_file(path, text)


def files_of(workspace, labs):
    """Returns {path of libmini's file: name in work/} of the labs, with added files."""
    found = {}
    for lab in workspace.catalogue.labs:
        paths = {workspace.name(path): path for path in workspace.catalogue.files_of(lab.number)}
        first = min(paths.values(), key=lambda path: not path.startswith("libmini/"), default=lab.hunt)
        for own in sorted((workspace.folder / lab.folder.name).glob("[!.]*")):
            name = f"{lab.folder.name}/{own.name}"
            if lab.number in labs and own.suffix in SUFFIXES and own.is_file() and own.stem not in PROGRAMS:
                found[paths.get(name) or str(PurePath(first).parent / f"lab{lab.number}" / own.name)] = name
    return found


def main():
    from lab_tool.workspace import Workspace

    workspace = Workspace()
    labs = workspace.catalogue.labs
    hunts = {lab.hunt: workspace.name(lab.hunt) for lab in labs if workspace.mine(lab.hunt)}
    write(workspace, folder_of("work"), files_of(workspace, {lab.number for lab in labs}) | hunts)


if __name__ == "__main__":
    main()
