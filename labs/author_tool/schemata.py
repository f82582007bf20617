"""Mutation schemata: one copy of the sources in which every region has all of its bodies.

    if (stubbed("lab07.2")) { MINI_TODO(...); }
    else if (mutated("lab07.2/contiguous-shards")) { ...the mutant... }
    else { ...the reference... }

One build is enough for every stub and every mutant: labs/check/schemata.hpp selects by
MINI_STUB and MINI_MUTANT at run time; device code can do this only on the simulator. With
#line the compiler's errors name the original files.

The mutants of task 07.2 are in the file tests/mutants/lab07.2.cpp. Each begins with a line
`// --- contiguous-shards`, its name. The next line is a comment that says what is wrong; the lines
after it replace the region's body. If a task has several regions, a line after the comment selects
one: `// region: libmini/a.cpp`, with a number after the path if that file has several:
`// region: libmini/a.cpp 2`.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from lab_tool.projection import write_all
from lab_tool.regions import regions_in, todo, with_bodies
from lab_tool.screen import LabError

INCLUDE = '#include "labs/check/schemata.hpp"'
NAME_LINE = re.compile(r"^// --- (\S+)$")
REGION_LINE = re.compile(r"^// region: (\S+?)(?: +#?(\d+))?\s*$")


@dataclass(frozen=True)
class Mutant:
    name: str  # "lab07.2/contiguous-shards"
    wrong: str  # what is wrong, one sentence
    body: tuple
    path: str  # of the mutant's file, in the repository
    first_line: int  # the line at which the body begins in that file
    region: tuple  # (path, index among the task's regions of that path)

    @property
    def task(self):
        return self.name[3:].split("/")[0]

    @property
    def lab(self):
        return self.task[:2]


def read_mutants(catalogue):
    """Returns all mutants, sorted by task and name. Raises LabError, naming the file, for a mutant
    that is not well formed."""
    folder = catalogue.root / "tests" / "mutants"
    return [mutant for path in sorted(folder.glob("lab*.cpp"))
            for mutant in mutants_of_task(path, catalogue)]


def mutants_of_task(path, catalogue):
    """Returns the mutants of one file, sorted by name."""
    shown, task = str(path.relative_to(catalogue.root)), path.stem[3:]
    lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    starts = [number for number, line in enumerate(lines) if NAME_LINE.match(line)]
    if not starts or starts[0] > 0:
        raise LabError(f"{shown}:1: the file begins with the name of a mutant: // --- name")
    regions = catalogue.regions_of(task=task)
    if not regions:
        raise LabError(f"{shown}: there is no region [{path.stem}]")
    mutants = [read_mutant(lines, first, last, shown, regions)
               for first, last in zip(starts, [*starts[1:], len(lines)])]
    names = [mutant.name for mutant in mutants]
    if len(set(names)) < len(names):
        raise LabError(f"{shown}: two mutants have one name: {', '.join(names)}")
    return sorted(mutants, key=lambda mutant: mutant.name)


def read_mutant(lines, first, last, shown, regions):
    """Returns the mutant whose lines are lines[first:last]; blank lines at its end are left out."""
    while not lines[last - 1].strip():
        last -= 1
    name = f"{Path(shown).stem}/{NAME_LINE.match(lines[first])[1]}"
    wrong = lines[first + 1] if first + 1 < last else ""
    if not wrong.startswith("// "):
        raise LabError(f"{shown}:{first + 2}: a mutant begins with a comment that says what is wrong")
    chosen = REGION_LINE.match(lines[first + 2]) if first + 2 < last else None
    begin = first + (3 if chosen else 2)
    target = choose(regions, chosen, shown, first + 3)
    return Mutant(name, wrong[3:], tuple(lines[begin:last]), shown, begin + 1, target)


def choose(regions, chosen, shown, line):
    """Returns (path, index) of the region that a mutant replaces; `line` is the line that chooses
    it, or would."""
    if not chosen:
        if len(regions) > 1:
            places = ", ".join(region.place for region in regions)
            raise LabError(f"{shown}:{line}: the task has {len(regions)} regions ({places}); this "
                           "line must choose: // region: <path> [number]")
        return regions[0].path, 0
    there = [region for region in regions if region.path == chosen[1]]
    index = int(chosen[2] or 1) - 1
    if index >= len(there) or index < 0 or (len(there) > 1 and not chosen[2]):
        raise LabError(f"{shown}:{line}: {chosen[1]} has {len(there)} regions of this task; name one "
                       "of them: // region: <path> <number>, counted from 1")
    return chosen[1], index


def schemata(text, path, mutants):
    """Returns the text of a file with the stub, every mutant and the reference in its regions."""
    index_of = {}  # {first line of a region: its index among the task's regions in this file}

    def body_of(region):
        index = index_of[region.first]
        here = [mutant for mutant in mutants
                if mutant.task == region.task and mutant.region == (path, index)]
        lines = [f'if (::mini::schemata::stubbed("lab{region.task}")) {{', *todo(region)]
        for mutant in here:
            lines += [f'}} else if (::mini::schemata::mutated("{mutant.name}")) {{',
                      f'#line {mutant.first_line} "{mutant.path}"', *mutant.body]
        lines += ["} else {", f'#line {region.first + 2} "{path}"', *region.body, "}",
                  f'#line {region.last + 1} "{path}"']
        return lines

    seen = {}
    for region in regions_in(text, path):
        index_of[region.first] = seen.get(region.task, 0)
        seen[region.task] = index_of[region.first] + 1
    return f'{INCLUDE}\n#line 1 "{path}"\n' + with_bodies(text, path, body_of)


def generate(catalogue, mutants, folder):
    """Writes the schemata of every file with regions to `folder`, and removes all other files
    there; returns the paths. Unchanged files are not rewritten, so that they are not compiled
    again."""
    folder = Path(folder)
    wanted = {}
    for path in dict.fromkeys(region.path for region in catalogue.regions):
        text = (catalogue.root / path).read_text(encoding="utf-8")
        wanted[folder / path] = schemata(text, path, mutants)
    write_all(folder, wanted)
    return list(wanted)
