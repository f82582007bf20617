"""The learner's files in the real build: a made-up lab is begun, checked, broken, and built with all
bodies."""

import functools
import os
import subprocess
import unittest
from unittest import mock

from author_tool.mutants import read_mutants
from author_tool.schemata import generate
from lab_tool import building, projection
from made_up_lab import MadeUpLab

REFERENCE = "half 40 twice 160 quarter 20 one 81 two 82\n"


class Overlay(MadeUpLab):
    def setUp(self):
        super().setUp()
        self.build = self.root / "build"
        project = functools.partial(projection.project, build=self.build)
        self.patch(("lab_tool.building.ROOT", self.root),
                   ("lab_tool.building.BUILD", self.build),
                   ("lab_tool.building.project", project),
                   ("lab_tool.building.fresh_log", lambda name: self.build / name))
        self.build.mkdir()

    def make(self, target):
        code, lines = building.build_checks([target], self.build / "log")
        self.assertEqual(code, 0, "\n".join(lines))

    def output(self, program, **environment):
        done = subprocess.run([self.build / "release/bin" / program], capture_output=True,
                              text=True, env={**os.environ, **environment}, check=False)
        return done.stdout + done.stderr

    def check(self):
        with mock.patch.object(building, "build_checks", wraps=building.build_checks) as builds:
            broken = building.build_without_broken(self.work, [self.lab])
        self.built = [call.args[0] for call in builds.call_args_list]
        return broken, self.output("lab06_check")

    def edit(self, path, text):
        lines = self.work.mine(path).split("\n")
        place = next(number for number, line in enumerate(lines) if "// [lab06" in line)
        lines[place + 1] = text
        self.write(self.work.shown(path), "\n".join(lines))

    def test_one_build_for_learners_files_gaps_stubs_and_mutants(self):
        self.the_learners_files_replace_those_of_the_reference()
        self.what_a_learners_file_does_not_define_is_not_written()
        self.stubs_and_mutants_of_kernels_are_selected_at_run_time()

    def the_learners_files_replace_those_of_the_reference(self):
        self.assertEqual(self.work.start("06"),
                         ["libmini/kernels/half.cu", "libmini/kernels/one.cpp",
                          "libmini/kernels/twice.cu", "libmini/kernels/two.cpp"])
        self.assertEqual(self.check(), ({}, "[lab06.1] not started: Halve.\n"))
        self.edit("libmini/kernels/half.cu", "    y = x - 1;")
        self.edit("libmini/kernels/twice.cu", "    y = x + 1;")
        self.edit("libmini/kernels/one.cpp", "    y = x;")
        self.edit("libmini/kernels/two.cpp", "    y = x - 1;")
        mine = "half 79 twice 81 quarter 78 one 80 two 79\n"
        self.assertEqual(self.check(), ({}, mine))
        self.make("show_mine")
        self.assertEqual(self.output("show_mine"), mine)

        # A file with an error is replaced by the reference's.
        self.edit("libmini/kernels/half.cu", "    y = z;")
        broken, output = self.check()
        own, program = ["mini_check06_own"], ["lab06_check"]
        self.assertEqual(self.built, [own, own, program])  # the error is found before the rest is built
        expected = "half 40 twice 81 quarter 20 one 80 two 79\n"
        self.assertEqual(output, expected)
        errors = broken["06-kernels/half.cu"]
        self.assertIn("work/06-kernels/half.cu:6: ", errors[0].spelled()[0])

        # A deleted file is replaced too.
        (self.root / "work/06-kernels/half.cu").unlink()
        self.assertEqual(self.check(), ({}, expected))

        # And one of two files that the reference compiles as one object.
        (self.root / "work/06-kernels/two.cpp").unlink()
        self.assertEqual(self.check(), ({}, expected.replace("79", "82")))

    def what_a_learners_file_does_not_define_is_not_written(self):
        for path in self.work.catalogue.files_of("06"):
            self.write(self.work.shown(path), self.work.reference(path))
        self.assertEqual(self.check(), ({}, REFERENCE))
        own = self.work.mine("libmini/kernels/two.cpp")
        for text in ("// empty\n", own.split("int two")[0],
                     own.split("int two")[0] + "int Step::by(int x) { return x; }\n"):
            self.write("work/06-kernels/two.cpp", text)
            thrown_and_printed = 2 * ("[lab06.3] not started: work/06-kernels/two.cpp does not "
                                      "define two\n")
            self.assertEqual(self.check(), ({}, thrown_and_printed))
            self.make("show_mine")
            self.assertIn("does not define two", self.output("show_mine"))

        # A function that is called and not written, and one that another file has.
        for text, message in (("int three(int x);\nint two(int x) { return three(x); }\n",
                               "undefined reference to `three(int)'"),
                              (own + "int other() { return 2; }\n",
                               "multiple definition of `other()'")):
            self.write("work/06-kernels/two.cpp", text)
            broken, output = self.check()
            self.assertEqual(output, REFERENCE)
            self.assertIn(message, broken["06-kernels/two.cpp"][0].message)

        # A virtual function of a class with objects, and a kernel.
        self.write("work/06-kernels/two.cpp", own.split("int Step")[0])
        self.assertEqual(self.check(), ({}, REFERENCE))
        self.write("work/06-kernels/twice.cu", "// empty\n")
        self.assertIn("twice.cu does not define twice", self.check()[1])

    def stubs_and_mutants_of_kernels_are_selected_at_run_time(self):
        catalogue = self.work.catalogue
        generate(catalogue, catalogue.labs, read_mutants(catalogue), self.build / "schemata")
        building.configure(self.build / "log")
        self.make("lab06_schemata")
        for environment, output in (
                ({}, REFERENCE),
                ({"MINI_STUB": "lab06.2"}, "[lab06.2] not started: Double.\n"),
                ({"MINI_MUTANT": "lab06.1/less"}, "half 79 twice 160 quarter 78 one 81 two 82\n"),
                ({"MINI_MUTANT": "lab06.2/more"}, REFERENCE.replace("160", "81")),
                ({"MINI_MUTANT": "lab06.3/none"}, REFERENCE.replace("82", "80"))):
            with self.subTest(environment):
                self.assertEqual(self.output("lab06_schemata", **environment), output)
