"""Progress is parsed from the output of Ninja."""

import os
import tempfile
import unittest
from unittest import mock

from lab_tool import building


class ParseStep(unittest.TestCase):
    def test_ninja_counts_steps(self):
        line = "[12/80] Building CXX object libmini/tensor/CMakeFiles/mini_tensor.dir/ops.cpp.o"
        self.assertEqual(building.parse_step(line), (12, 80, "ops.cpp"))

    def test_other_lines_are_not_steps(self):
        for line in ("", "ninja: no work to do.", "ops.cpp:12:3: error: no", "[x/y] z", "[12/80]"):
            self.assertIsNone(building.parse_step(line), line)


class BuildEnvironment(unittest.TestCase):
    def test_ccache_does_not_use_a_home_folder_that_is_not_writable(self):
        with tempfile.TemporaryDirectory() as home:
            with mock.patch.dict(os.environ, {"HOME": home}):
                os.environ.pop("CCACHE_DIR", None)
                self.assertNotIn("CCACHE_DIR", building.build_environment())
            with mock.patch.dict(os.environ, {"HOME": home + "/none"}):
                os.environ.pop("CCACHE_DIR", None)
                self.assertIn("build", building.build_environment()["CCACHE_DIR"])
