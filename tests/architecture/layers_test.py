"""The dependencies between components and between units are correct.

A component is a folder whose CMakeLists.txt calls mini_component(name ... NEEDS ...). It may depend
only on components that are added before it with add_subdirectory. A unit is a header with its sources.
This test reads the includes and fails when

- a component includes one that is added after it, or that its NEEDS do not list;
- a component's NEEDS list a component that it does not include;
- units include each other in a cycle;
- the library includes labs or tests;
- the core includes an extra: a file outside libmini/extras, other than a program of libmini/tools,
  includes one of libmini/extras. (The core's kernels include the simulator's CUDA headers, which the
  build chooses.)
- a file of the reading route of docs/pages/architecture.md does not lead to the next.

    python3 tests/architecture/layers_test.py --list     components with their files, lines and needs
"""

import re
import sys
import unittest
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/site"))
from components import components, components_below  # noqa: E402

SUFFIXES = {".hpp", ".cpp", ".cu", ".cuh", ".h"}

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.M)
SYSTEM = "libmini/extras/cudasim/include"  # the folder of the simulator's <cuda_runtime.h>
USE_ALL = "libmini/extras/use_all.hpp"  # for main functions; in no component
ALL = "libmini/libmini.hpp"  # the same
# Of the reading route: number, file, lab, and the earlier file with the name that both use.
ROW = re.compile(r"^\| (\d+) \| .*?((?:labs|libmini)/[\w./-]+).*? \| ([\d-]+) \| (?:(\d+), `(\w+)`)? *\|", re.M)
NOT_CODE = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"')
EXTRAS, PROGRAMS = "libmini/extras", "libmini/tools"


class Library:
    """The components below `root`/libmini, their files, and the files that these files include."""

    def __init__(self, root):
        self.root = root
        self.needs = components(root)
        self.order = list(self.needs)
        folders = {folder: name for folder, name, _ in components_below(root / "libmini")}
        self.component_of, self.includes = {}, defaultdict(set)
        for path in sorted((root / "libmini").rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            self.component_of[path] = next(
                (folders[folder] for folder in path.parents if folder in folders), None)
            for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
                target = next((target for target in (path.parent / name, root / SYSTEM / name)
                               if target.is_file()), root / name)
                if target.is_file():
                    self.includes[path].add(target)

    def arrows(self):
        """Yields (file, included file) if the included file is in another component or in none."""
        for path, targets in self.includes.items():
            for target in sorted(targets):
                if (self.component_of.get(target) != self.component_of[path]
                        or target not in self.component_of):
                    yield path, target

    def faults(self):
        layer = {component: i for i, component in enumerate(self.order)}
        used = defaultdict(set)
        for path, target in self.arrows():
            here, there = self.component_of[path], self.component_of.get(target)
            name = path.relative_to(self.root)
            included = str(target.relative_to(self.root))
            where = f"{name} includes {included}"
            if (included.startswith(EXTRAS) and not included.startswith(SYSTEM)
                    and not str(name).startswith((EXTRAS, PROGRAMS))):
                yield f"{where}: the core includes no extra"
            if str(name) in (USE_ALL, ALL) or included == USE_ALL:
                continue
            if here is None:
                yield f"{name} is in no component"
            elif there is None:
                yield f"{where}, which is in no component of the library"
            elif layer[there] > layer[here]:
                yield f"{where}: {here} depends on {there}, which is added after it"
            elif there not in self.needs[here] and SYSTEM not in str(target):
                yield f"{where}, but NEEDS of {here} does not list mini_{there}"
            used[here].add(there)
        for component in self.order:
            for need in sorted(self.needs[component]):
                if layer[need] > layer[component]:
                    yield f"{component} NEEDS mini_{need}, which is added after it"
                elif need not in used[component]:
                    yield f"{component} NEEDS mini_{need}, but does not include it"
        for circle in self.circles():
            yield "units include each other in a cycle: " + ", ".join(circle)

    def units(self):
        """Returns {unit: the units that it includes}."""
        graph = defaultdict(set)
        for path, targets in self.includes.items():
            here = str(path.relative_to(self.root).with_suffix(""))
            graph[here].update(str(target.relative_to(self.root).with_suffix(""))
                               for target in targets if target in self.component_of)
            graph[here].discard(here)
        return graph

    def circles(self):
        """Returns lists of units that include each other, directly or indirectly (Tarjan's
        strongly connected units)."""
        graph, number, low, stack, found = self.units(), {}, {}, [], []

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
        for component in reversed(self.order):
            files = [path for path, name in self.component_of.items() if name == component]
            lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
            needs = " ".join(sorted(self.needs[component]))
            yield f"{component:12} {len(files):4} files {lines:6} lines   {needs}"


class ReadingRoute(unittest.TestCase):
    def headers(self, path):
        """Returns the headers that a file includes, directly or not."""
        if path not in self.known:
            own = [ROOT / name for name in INCLUDE.findall(path.read_text(encoding="utf-8"))]
            own = {header for header in own if header.is_file()}
            self.known[path] = own.union(*map(self.headers, own))
        return self.known[path]

    def check_named(self, name, paths):
        code = [NOT_CODE.sub("", path.read_text(encoding="utf-8")) for path in paths]
        self.assertTrue(any(re.search(rf"\b{name}\b", text) for text in code), f"{name}: {paths}")

    def test_each_file_is_of_its_lab_and_shares_a_name_and_its_header_with_an_earlier_file(self):
        self.known, files = {}, {}
        page = (ROOT / "docs/pages/architecture.md").read_text(encoding="utf-8")
        for number, name, lab, before, shared in ROW.findall(page):
            files[number] = list((ROOT / name).parent.glob(f"{Path(name).stem}.?pp"))
            with self.subTest(name):
                self.assertIn(ROOT / name, files[number])
                text = "".join(path.read_text(encoding="utf-8") for path in files[number])
                self.assertTrue(lab == "-" or f"[lab{lab}" in text or name.startswith(f"labs/{lab}-"))
                if not before:
                    self.assertTrue(number == "1" and "int main(" in text)
                    continue
                sides = [files[before], files[number]]
                reached = [set(side).union(*map(self.headers, side)) for side in sides]
                common = [path for path in reached[0] & reached[1] if path.suffix == ".hpp"]
                for paths in (*sides, common):
                    self.check_named(shared, paths)
        self.assertEqual(list(files), [str(i + 1) for i in range(len(files))])
        self.assertIn(len(files), range(10, 16))


class Components(unittest.TestCase):
    def test_components_include_only_what_lies_below_them(self):
        library = Library(ROOT)
        faults = list(library.faults())
        arrows = {(library.component_of[a], library.component_of.get(b))
                  for a, b in library.arrows()}
        print(f"{len(library.order)} components, {len(library.component_of)} files, "
              f"{len(library.units())} units, {len(arrows)} arrows between components, "
              f"{len(library.circles())} circles")
        self.assertEqual(faults, [], "\n" + "\n".join(faults))


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        print("\n".join(Library(ROOT).listing()))
    else:
        unittest.main()
