"""The code that a learner writes: the regions of a source file between two equal marker lines.

    // [lab07.2] Hand out one rank's partition.      the title, an imperative sentence
    ...the solution...
    // [lab07.2]

A region consists of whole statements inside one function body. In the starter it contains
MINI_TODO("lab07.2", "..."), which compiles and throws NotImplemented; in a kernel this
ends the kernel with an error. The marker lines stay, so a learner's file has the same
regions.
"""

import re
from dataclasses import dataclass

from lab_tool.screen import LabError

HEADERS = (".hpp", ".cuh")
SUFFIXES = (".cpp", ".cu", *HEADERS)
LOOKS_LIKE_ONE = re.compile(r"^\s*//\s*\[lab")
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
    """Returns the regions of a file in their order. Raises LabError if a marker is wrong;
    the error names the marker's line."""
    found, opened = [], None
    lines = text.split("\n")
    for number, line in enumerate(lines):
        match = MARKER.match(line)
        if not match and LOOKS_LIKE_ONE.match(line):
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
    """Returns the text with each region's lines replaced by body_of(region), or unchanged
    if that is None. Calls body_of for the last region first."""
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


def starter(text, path, task=""):
    """Returns the text with MINI_TODO in its regions, or in those of one task."""
    return with_bodies(text, path,
                       lambda region: todo(region) if task in ("", region.task) else None)
