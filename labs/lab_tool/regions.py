"""The code that a learner writes: the regions of a source file between two equal marker lines.

    // [lab07.2] Hand out one rank's partition.      the title, an imperative sentence
    ...the solution...
    // [lab07.2]

In the starter a region contains MINI_TODO("lab07.2", "..."), which compiles and throws
NotImplemented. The marker lines stay, so a learner's file has the same regions.

A source with two lines // [lab07 file] is a core: it can also be written whole, from an empty file
(empty_form.py). A learner's file of a core is guided if it has regions, and else written whole."""

import re
from dataclasses import dataclass

from lab_tool.screen import LabError

HEADERS = (".hpp", ".cuh")
SUFFIXES = (".cpp", ".cu", *HEADERS)
LOOKS_LIKE_ONE = re.compile(r"^\s*//\s*\[lab")
FILE = re.compile(r"^// \[lab(\d\d) file\] *$", re.MULTILINE)
FILE_LINE = re.compile(FILE.pattern + r"\n?", re.MULTILINE)
MARKER = re.compile(r"^(?P<indent>\s*)// \[lab(?P<task>\d\d\.\d+)\](?: +(?P<title>\S.*?))? *$")


@dataclass(frozen=True)
class Region:
    task: str  # "07.2"
    title: str
    path: str  # in the repository
    first: int  # the first marker's index among the lines
    last: int  # the second's
    indent: str
    lines: tuple  # with the markers

    @property
    def body(self):
        return self.lines[1:-1]

    @property
    def lab(self):
        return self.task[:2]

    @property
    def in_device_file(self):
        return self.path.endswith(".cu")

    @property
    def place(self):
        """path:line of the first marker."""
        return f"{self.path}:{self.first + 1}"


def regions_in(text, path):
    """Returns the regions of a file in their order. Raises LabError if a marker is wrong."""
    found, opened = [], None
    lines = text.split("\n")
    for number, line in enumerate(lines):
        match = MARKER.match(line)
        if not match and LOOKS_LIKE_ONE.match(line) and not FILE.match(line):
            raise LabError(f"{path}:{number + 1}: this is not a marker; one looks like "
                           "// [lab07.2] Imperative title.")
        if not match:
            continue
        task, title = match["task"], match["title"]
        if opened is None:
            if not title:
                raise LabError(f"{path}:{number + 1}: the marker [lab{task}] ends a region that "
                               "was not begun, or begins a region without a title")
            opened = (number, match)
        elif task != opened[1]["task"] or title:
            raise LabError(f"{path}:{number + 1}: the marker [lab{task}] stands inside the region "
                           f"[lab{opened[1]['task']}] of line {opened[0] + 1}, which must end "
                           "first with its bare marker")
        else:
            first, head = opened
            found.append(Region(task, head["title"], path, first, number, head["indent"],
                                tuple(lines[first:number + 1])))
            opened = None
    if opened:
        raise LabError(f"{path}:{opened[0] + 1}: the region [lab{opened[1]['task']}] has no second "
                       f"marker line: // [lab{opened[1]['task']}]")
    return found


def with_bodies(text, path, body_of):
    """Returns the text with body_of(region) as each region's lines, unless that is None."""
    lines = text.split("\n")
    for region in reversed(regions_in(text, path)):
        body = body_of(region)
        if body is not None:
            lines[region.first + 1:region.last] = body
    return "\n".join(lines)


def todo(region):
    """Returns the statement of a starter's region, on two lines if it is too long for one."""
    title = region.title.replace("\\", "\\\\").replace('"', '\\"')
    call, argument = f'{region.indent}MINI_TODO("lab{region.task}",', f'"{title}");'
    if len(call) + 1 + len(argument) <= 90:
        return [f"{call} {argument}"]
    return [call, region.indent + " " * len("MINI_TODO(") + argument]


def core_in(text, path):
    """Returns the indices of the two file markers of a core, (0, 0) for another file."""
    places = [number for number, line in enumerate(text.split("\n")) if FILE.match(line)]
    if not places:
        return 0, 0
    regions = regions_in(text, path)
    labs = set(FILE.findall(text)) | {region.lab for region in regions}
    first, last = places[0], places[-1]
    if len(places) != 2 or len(labs) != 1 or not all(
            first < region.first and region.last < last for region in regions):
        raise LabError(f"{path}:{first + 1}: a core has two lines // [labNN file], below its includes "
                       "and at its end, with all its regions of one lab between them")
    return first, last


def solution_of(text, path):
    """Returns the lines of a core between its file markers, without the markers of regions."""
    first, last = core_in(text, path)
    return [line for line in text.split("\n")[first + 1:last] if not MARKER.match(line)]


def starter(text, path):
    """Returns the text with MINI_TODO in its regions. File markers stay."""
    return with_bodies(text, path, todo)
