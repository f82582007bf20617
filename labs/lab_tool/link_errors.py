"""The linker's errors, with a file and a line as far as the linker knows them.

    GNU ld    a.cpp:34: undefined reference to `cut()'
              a.cpp:34: multiple definition of `cut()'; b.cpp.o:b.cpp:12: first defined here
    gold      a.cpp:34: error: undefined reference to 'cut()'
              a.cpp.o: multiple definition of 'cut()'
              b.cpp.o: previous definition here
    lld       error: undefined symbol: cut()
              >>> referenced by a.cpp:34 (/src/a.cpp:34)      first without the folder
              >>>               a.cpp.o:(deal())
              error: duplicate symbol: cut()
              >>> defined at ...                              in the same form
    mold      like lld, without lines; error: duplicate symbol: a.cpp.o: b.cpp.o: cut()
"""

import re
from pathlib import Path

SYMBOL = re.compile(r"(undefined reference to|undefined symbol:|multiple definition of"
                    r"|duplicate symbol:) (?:\S+\.o: \S+\.o: )?[`']?(.*?)(?:'|$)")
OBJECT = re.compile(r"(\S+)\.o\b")
PLACE = re.compile(r"([^:]+\.(?:[ch]pp|cuh?)):(\d+)")
PARTS = re.compile(r"^.*?\.dir/(?:__/)*(.*)$")
MINE = re.compile(r"^.*?\bmine/\d\d/")


def link_error(lines, index, root):
    """Returns (path, line, message) of the linker's error in lines[index], or None. If
    the error names several files, the path is a file of the learner, and for a function
    that is defined twice, a file that the learner has added. The path is "" and the line
    is 0 if they are not known."""
    symbol = SYMBOL.search(lines[index])
    if not symbol:
        return None
    is_twice = symbol[1] in ("multiple definition of", "duplicate symbol:")
    what = "multiple definition of" if is_twice else "undefined reference to"

    def rank(place):
        is_mine = place[0].startswith("work/")
        return not is_mine, is_twice and (Path(root) / place[0].removeprefix("work/")).exists()

    places = places_in(told(lines, index), root)
    path, line = min(places, key=rank, default=("", 0))
    other = next((place for place in places if place[0] != path), None) if is_twice else None
    also = f", as in {spelled(*other)}" if other else ""
    return path, line, f"{what} `{symbol[2]}'{also}"


def spelled(path, line):
    return f"{path}:{line}" if line else path


def shortened(path, root):
    """Returns a path relative to the repository. Compilers print paths relative to the
    root or to the build folder; linkers print the path of the build folder before the
    relative path."""
    return path.split("../" * 2)[-1].removeprefix(f"{root}/")


def told(lines, index):
    """Returns the lines of the error at lines[index], the most precise line first."""
    after = []
    for line in lines[index + 1:]:
        if not line.startswith(">>>") and "previous definition here" not in line:
            break
        after.append(line)
    before = [line for line in lines[max(0, index - 1):index] if "in function" in line]
    return [lines[index], *after, *before]


def places_in(lines, root):
    """Returns the places (path, line) in the lines; places with a line come first."""
    exact, objects = [], []
    for line in lines:
        found = [(own(shortened(path.lstrip(" ("), root)), int(number))
                 for path, number in PLACE.findall(line)]
        exact += reversed(found) if "first defined here" in line else found
        objects += [(source_of(path), 0) for path in OBJECT.findall(line)]
    known = [place for place in exact if "/" in place[0]]
    return known + [place for place in objects if place[0]]


def own(path):
    """Returns the path in work/ of a file in build/mine: GNU ld prints the path of the
    compiled file, but the line number in the learner's file."""
    return MINE.sub("work/", path)


def source_of(path):
    """Returns the source of an object file, given without ".o", if the source is not in
    the target's folder: work/libmini/a.cpp for "a.dir/__/work/libmini/a.cpp"; else ""."""
    parts = PARTS.match(path)
    return own(parts[1]) if parts and "/__/" in path else ""
