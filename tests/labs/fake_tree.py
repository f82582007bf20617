"""A small repository for the tests of the tool: two files, two labs, three tasks."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from lab_tool import cli
from lab_tool.catalogue import Catalogue
from lab_tool.workspace import Workspace

PARTITION = """\
int at(int i) {
    // [lab07.1] Look the place up.
    return index[i];
    // [lab07.1]
}

void cut() {
    // [lab07.2] Hand out one rank's part, and as long a title as makes the line too long for it.
    take();
    keep();
    // [lab07.2]
}
"""

SAMPLER = """\
void sample() {
    // [lab09.1] Interleave.
    every(2);
    // [lab09.1]
}
"""

# A file with two regions of task 07.1.
TWICE = PARTITION + "\n" + SAMPLER.replace("lab09.1", "lab07.1")

# The sampler as a core, and its header.
CORE = """\
#include "libmini/sampler.hpp"

// [lab09 file]
namespace mini {
namespace {

void helper() {}

}  // namespace

Sampler::Sampler(int n)
    : n_(n) {}

int Sampler::sample(
    int i) const {
    // [lab09.1] Interleave.
    return 2 * i;
    // [lab09.1]
}

int Sampler::hidden() { return 1; }

void Sampler::notify() {}

}  // namespace mini
// [lab09 file]
"""

CORE_HEADER = """\
class Sampler : Base {
  public:
    /// Not helper(), and not cut().
    explicit Sampler(int n = 0);
    int sample(int i) const;

  private:
    struct Inner {
    };
    int hidden();
    void notify() override;
    int n_;
};
"""

README = """\
# Lab {number} · {title}

| Task | What | File | Done when | Points |
|---|---|---|---|---|
{rows}
"""


def row(task):
    return f"| {task} | Do {task} | `libmini/part.cpp` | it is done | 5 |"


class FakeTree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.write("libmini/part.cpp", PARTITION)
        self.write("libmini/sampler.cpp", SAMPLER)
        self.write_lab("07-partition", "Partition", ["07.1", "07.2"])
        self.write_lab("09-sampler", "Sampler", ["09.1"])
        for task in ("07.1", "07.2", "09.1"):
            self.write_mutants(task, "abcd")

    def patch(self, *replaced):
        """Replaces values until the test ends. `replaced`: pairs (name, value)."""
        for name, value in replaced:
            patch = mock.patch(name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def call(self, *words, code=0):
        """Runs labs/lab, and returns what it prints; out and err have the two streams."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            self.assertEqual(cli.main(list(words)), code, out.getvalue() + err.getvalue())
        self.out, self.err = out.getvalue(), err.getvalue()
        return self.out + self.err

    def write_program(self, path, script):
        self.write(path, script)
        (self.root / path).chmod(0o755)
        return self.root / path

    def write_mutants(self, task, names, change="-...\n+    wrong();\n"):
        self.write(f"tests/mutants/lab{task}.diff",
                   "".join(f"@@ {name}: It is wrong.\n{change}" for name in names))

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def write_lab(self, folder, title, tasks):
        text = README.format(number=folder[:2], title=title, rows="\n".join(map(row, tasks)))
        self.write(f"labs/{folder}/README.md", text)
        for task in tasks:
            self.write(f"labs/{folder}/hints/{task}.md", "## 1\nThink.\n\n## 2\nLook.\n\n## 3\nDo.\n")

    def catalogue(self):
        return Catalogue(self.root)

    def write_core(self):
        """Makes lab 09's file a core."""
        self.write("libmini/sampler.cpp", CORE)
        self.write("libmini/sampler.hpp", CORE_HEADER)

    def workspace(self):
        return Workspace(self.catalogue())

    def own(self):
        return (self.root / "work/07-partition/part.cpp").read_text()
