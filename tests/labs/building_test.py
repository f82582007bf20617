"""Builds: their progress, from the output of Ninja, and what `labs/lab test` builds and runs."""

import tempfile
import threading
import unittest
from argparse import Namespace
from pathlib import Path
from unittest import mock

from lab_tool import building
from lab_tool.screen import LabError
from lab_tool.verbs import test as verb


class ParseStep(unittest.TestCase):
    def test_ninja_counts_steps(self):
        line = "[12/80] Building CXX object libmini/tensor/CMakeFiles/mini_tensor.dir/ops.cpp.o"
        self.assertEqual(building.parse_step(line), (12, 80, "ops.cpp"))

    def test_other_lines_are_not_steps(self):
        for line in ("", "ninja: no work to do.", "ops.cpp:12:3: error: no", "[x/y] z", "[12/80]",
                     "[1/2] Re-running CMake..."):
            self.assertIsNone(building.parse_step(line), line)


class TurnIn(unittest.TestCase):
    def test_a_second_build_in_a_folder_tells_that_it_waits_until_the_first_has_ended(self):
        events, waits = [], threading.Event()

        def second():
            with building.turn_in("release"):
                events.append("second")

        with tempfile.TemporaryDirectory() as folder, mock.patch.multiple(
                building, BUILD=Path(folder), say=lambda text: waits.set()):
            thread = threading.Thread(target=second)
            with building.turn_in("release"), building.turn_in("debug"):
                thread.start()
                self.assertTrue(waits.wait(60))
                events.append("first")
            thread.join(60)
        self.assertEqual(events, ["first", "second"])


class CheckBuilt(unittest.TestCase):
    def told(self, *lines):
        building.check_built("it failed", 0, lines, "a.log")
        with self.assertRaises(LabError) as caught:
            building.check_built("it failed", 3, lines, "a.log")
        first, *told, last = str(caught.exception).split("\n")
        self.assertEqual((first, last), ("it failed:", "the whole output is in a.log"))
        return told

    def test_a_failure_shows_the_lines_from_the_first_error_and_names_the_log(self):
        later = [f"[{number}/90] Building error.cpp.o" for number in range(50)]
        self.assertEqual(self.told(*later, "a.cpp:3:1: error: no", *later), ["a.cpp:3: no"])
        self.assertEqual(self.told(*later, "CMake Error at a.cmake:1:", *later),
                         ["CMake Error at a.cmake:1:", *later[:29]])
        self.assertEqual(self.told(*later), later[-10:])


class TestVerb(unittest.TestCase):
    def test_options_select_tests(self):
        options = Namespace(preset="tsan", L="unit", R=None, ctest_options=["--repeat", "x"])
        command = verb.command_for(options)
        self.assertEqual(command[:3], ["ctest", "--preset", "tsan"])
        self.assertIn("--output-junit", command)
        self.assertEqual(command[-4:], ["-L", "unit", "--repeat", "x"])

    def test_only_the_targets_that_a_label_needs_are_built(self):
        for labels, targets in (("unit", ("unit_tests",)), ("unit|processes", ("unit_tests",)),
                                ("unit|threads", ("unit_tests", "thread_tests")),
                                ("unit|e2e", ()), ("e2e", ()), (None, ())):
            self.assertEqual(verb.targets_for(Namespace(L=labels)), targets)
