"""The dependencies between rooms and between components are correct.

A room is a folder whose CMakeLists.txt calls mini_room(name ... NEEDS ...). A room may depend only
on rooms that are added before it with add_subdirectory. A component is a header with its sources.
This test reads the includes and fails when

- a room includes a room that is added after it, or that its NEEDS do not list;
- a room's NEEDS list a room that it does not include;
- components include each other in a cycle;
- the library includes labs or tests;
- the core includes an extra: a file outside libmini/extras, other than a program of libmini/tools,
  includes one of libmini/extras. (The core's kernels include the simulator's CUDA headers, which the
  build chooses.)

    python3 tests/architecture/rooms_test.py --list     rooms with their files, lines and needs
"""

import re
import sys
import unittest
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/site"))
from house import rooms, rooms_below  # noqa: E402

SUFFIXES = {".hpp", ".cpp", ".cu", ".cuh", ".h"}

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.M)
SYSTEM = "libmini/extras/cudasim/include"  # the folder of the simulator's <cuda_runtime.h>
USE_ALL = "libmini/extras/use_all.hpp"  # for main functions; in no room
EXTRAS, PROGRAMS = "libmini/extras", "libmini/tools"


class House:
    """The rooms below `root`/libmini, their files, and the files that these files include."""

    def __init__(self, root):
        self.root = root
        self.needs = rooms(root)
        self.order = list(self.needs)
        folders = {folder: name for folder, name, _ in rooms_below(root / "libmini")}
        self.room_of, self.includes = {}, defaultdict(set)
        for path in sorted((root / "libmini").rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            self.room_of[path] = next(
                (folders[folder] for folder in path.parents if folder in folders), None)
            for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
                target = next((target for target in (path.parent / name, root / SYSTEM / name)
                               if target.is_file()), root / name)
                if target.is_file():
                    self.includes[path].add(target)

    def arrows(self):
        """Yields (file, included file) if the included file is in another room or in no room."""
        for path, targets in self.includes.items():
            for target in sorted(targets):
                if self.room_of.get(target) != self.room_of[path] or target not in self.room_of:
                    yield path, target

    def faults(self):
        floor = {room: i for i, room in enumerate(self.order)}
        used = defaultdict(set)
        for path, target in self.arrows():
            here, there = self.room_of[path], self.room_of.get(target)
            name = path.relative_to(self.root)
            included = str(target.relative_to(self.root))
            where = f"{name} includes {included}"
            if (included.startswith(EXTRAS) and not included.startswith(SYSTEM)
                    and not str(name).startswith((EXTRAS, PROGRAMS))):
                yield f"{where}: the core includes no extra"
            if str(name) == USE_ALL or included == USE_ALL:
                continue
            if here is None:
                yield f"{name} is in no room"
            elif there is None:
                yield f"{where}, which is in no room of the library"
            elif floor[there] > floor[here]:
                yield f"{where}: {here} depends on {there}, which is added after it"
            elif there not in self.needs[here] and SYSTEM not in str(target):
                yield f"{where}, but NEEDS of {here} does not list mini_{there}"
            used[here].add(there)
        for room in self.order:
            for need in sorted(self.needs[room]):
                if floor[need] > floor[room]:
                    yield f"{room} NEEDS mini_{need}, which is added after it"
                elif need not in used[room]:
                    yield f"{room} NEEDS mini_{need}, but does not include it"
        for circle in self.circles():
            yield "components include each other in a cycle: " + ", ".join(circle)

    def components(self):
        """Returns {component: the components that it includes}."""
        graph = defaultdict(set)
        for path, targets in self.includes.items():
            here = str(path.relative_to(self.root).with_suffix(""))
            graph[here].update(str(target.relative_to(self.root).with_suffix(""))
                               for target in targets if target in self.room_of)
            graph[here].discard(here)
        return graph

    def circles(self):
        """Returns lists of components that include each other, directly or indirectly (Tarjan's
        strongly connected components)."""
        graph, number, low, stack, found = self.components(), {}, {}, [], []

        def visit(node):
            number[node] = low[node] = len(number)
            stack.append(node)
            for other in sorted(graph.get(node, ())):
                if other not in number:
                    visit(other)
                if other in stack:
                    low[node] = min(low[node], low[other])
            if low[node] == number[node]:
                at = stack.index(node)
                if len(stack) - at > 1:
                    found.append(sorted(stack[at:]))
                del stack[at:]

        for node in sorted(graph):
            if node not in number:
                visit(node)
        return found

    def listing(self):
        for room in reversed(self.order):
            files = [path for path, name in self.room_of.items() if name == room]
            lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
            yield f"{room:12} {len(files):4} files {lines:6} lines   {' '.join(sorted(self.needs[room]))}"


class Rooms(unittest.TestCase):
    def test_the_house_holds_together(self):
        house = House(ROOT)
        faults = list(house.faults())
        arrows = {(house.room_of[a], house.room_of.get(b)) for a, b in house.arrows()}
        print(f"{len(house.order)} rooms, {len(house.room_of)} files, "
              f"{len(house.components())} components, {len(arrows)} arrows between rooms, "
              f"{len(house.circles())} circles")
        self.assertEqual(faults, [], "\n" + "\n".join(faults))


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        print("\n".join(House(ROOT).listing()))
    else:
        unittest.main()
