"""The compiler's and the linker's errors; errors in the learner's files come first.

    GCC       a.cpp:3:1: error: ...                        nvcc: a.cu(3): error: ...
    GNU ld    a.cpp:34: undefined reference to `cut()'
              a.cpp:34: multiple definition of `cut()'; b.cpp.o:b.cpp:12: first defined here
    lld       error: undefined symbol: cut()
              >>> referenced by a.cpp:34 (/src/a.cpp:34)      first without the folder
              >>>               a.cpp.o:(deal())
              error: duplicate symbol: cut()
              >>> defined at ...                              in the same form
    mold      like lld, without lines; error: duplicate symbol: a.cpp.o: b.cpp.o: cut()
"""

import itertools
import re
from dataclasses import dataclass
from pathlib import Path

ERROR = re.compile(r"^(/?[^\s:(]+\.(?:[ch]pp|cuh?))(?::(\d+):(?:\d+:)?|\((\d+)\):) "
                   r"(?:fatal )?error:? (.*)$")
FAILED = re.compile(r"^FAILED: (?:\[code=\d+\] )?(\S+)")  # Ninja 1.13 has the code
LINKERS = ("undefined reference to", "multiple definition of")
SOURCE = re.compile(r"^ *\d* \|")
SYMBOL = re.compile(r"(undefined reference to|undefined symbol:|multiple definition of"
                    r"|duplicate symbol:) (?:\S+\.o\)?: \S+\.o\)?: )?[`']?(.*?)(?:'|$)")
# A file of the learner's or of the repository, or in build/mine, which includes the learner's; or its
# object file.
PLACE = re.compile(r"(?:mine/(\d\d)/)?(work/\d\d-[\w-]+/[^:\n/]*?\.(?:[ch]pp|cuh?)"
                   r"|(?:libmini|labs)/(?:(?!\.dir/)[^:\n])*?\.(?:[ch]pp|cuh?))(?=[.:)])(?::(\d+))?")


@dataclass(frozen=True)
class CompileError:
    path: str  # in the repository, "work/..." for the learner's; "" for the linker
    line: int  # 0: not known
    message: str
    context: tuple = ()  # the source line and the caret under it

    @property
    def is_of_linker(self):
        return self.message.startswith(LINKERS)

    def spelled(self):
        place = f"{self.path}:{self.line}: " if self.line else f"{self.path}: "
        return [f"{place if self.path else ''}{self.message}", *self.context]


def errors_in(lines, root):
    """Returns the errors in a build's output, each once, the learner's first."""
    found = {}
    for index, line in enumerate(lines):
        match = ERROR.match(line)
        link = link_error(lines, index, root)
        if link:
            found.setdefault(link[2], CompileError(*link))
        elif match:
            context = tuple(text for text in lines[index + 1:index + 3] if SOURCE.match(text))
            path, line = shortened(match[1], root), int(match[2] or match[3])
            error = CompileError(path, line, match[4], context)
            found.setdefault((error.path, error.line, error.message), error)
    return sorted(found.values(), key=lambda error: not error.path.startswith("work/"))


def link_error(lines, index, root):
    """Returns (path, line, message) of the linker's error in lines[index], or None. Of several
    files it names the learner's; of those that define a function twice, one that the learner has
    added. Path "" and line 0 are unknown."""
    symbol = SYMBOL.search(lines[index])
    if not symbol:
        return None
    is_twice = symbol[1] in ("multiple definition of", "duplicate symbol:")
    what = "multiple definition of" if is_twice else "undefined reference to"
    told = [line for line in lines[max(0, index - 1):index] if "in function" in line]
    told += [lines[index], *itertools.takewhile(lambda line: line.startswith(">>>"),
                                                lines[index + 1:])]
    places = [(f"work/{own_name(root, lab, path)}" if lab else path, int(line or 0))
              for lab, path, line in PLACE.findall("\n".join(told))]

    def rank(place):
        path, line = place
        in_libmini = is_twice and any((Path(root) / "libmini").rglob(Path(path).name))
        return not path.startswith("work/"), in_libmini, not line

    path, line = min(places, key=rank, default=("", 0))
    places.sort(key=lambda place: not place[1])
    other = next((place for place in places if place[0] != path), None)
    also = f", as in {other[0]}:{other[1]}".removesuffix(":0") if is_twice and other else ""
    return path, line, f"{what} `{symbol[2]}'{also}"


def own_name(root, lab, path):
    """Returns the learner's file that the first line of a file of build/mine names."""
    text = (Path(root) / "build" / "mine" / lab / path).read_text(encoding="utf-8")
    return re.search(r'work/(\d\d-[^"\n]+)"', text)[1]


def shortened(path, root):
    """Returns a path relative to the repository. Compilers print paths relative to the root or to
    the build folder; linkers print the build folder's path before that."""
    return path.split("../" * 2)[-1].removeprefix(f"{root}/")


def broken_files(lines, root):
    """Returns the learner's files whose objects Ninja could not build: "07-partition/a.cpp"."""
    broken = []
    for line in lines:
        match = FAILED.match(line)
        if match and "/mine/" in match[1] and match[1].endswith(".o"):
            lab, path = match[1].split("/mine/", 1)[1].removesuffix(".o").split("/", 1)
            broken.append(own_name(root, lab, path))
    return list(dict.fromkeys(broken))
