"""Marker lines, and the starters made from them."""

import unittest

from fake_tree import CORE, PARTITION, SAMPLER, TWICE
from lab_tool.regions import core_in, regions_in, solution_of, starter
from lab_tool.screen import LabError


class Regions(unittest.TestCase):
    def test_a_region_has_its_task_title_place_and_body(self):
        first = regions_in(PARTITION, "libmini/part.cpp")[0]
        self.assertEqual((first.task, first.lab, first.title), ("07.1", "07", "Look the place up."))
        self.assertEqual(first.place, "libmini/part.cpp:2")
        self.assertEqual(first.body, ("    return index[i];",))

    def test_one_task_may_have_several_regions(self):
        twice = TWICE
        self.assertEqual([region.task for region in regions_in(twice, "a.cpp")],
                         ["07.1", "07.2", "07.1"])

    def complaint(self, text):
        with self.assertRaises(LabError) as caught:
            regions_in(text, "a.cpp")
        return str(caught.exception)

    def test_an_invalid_marker_is_reported_with_its_line(self):
        self.assertIn("a.cpp:1: the region [lab07.1] has no second marker",
                      self.complaint("// [lab07.1] Do.\n"))
        self.assertIn("a.cpp:2: the marker [lab07.1] ends a region that was not begun",
                      self.complaint("\n// [lab07.1]\n"))
        self.assertIn("a.cpp:2: the marker [lab07.2] stands inside the region [lab07.1] of line 1",
                      self.complaint("// [lab07.1] Do.\n// [lab07.2] And.\n// [lab07.2]\n"))
        self.assertIn("a.cpp:2: the marker [lab07.1] stands inside",
                      self.complaint("// [lab07.1] Do.\n// [lab07.1] Do.\n"))
        self.assertIn("a.cpp:1: this is not a marker", self.complaint("  // [lab7.1] Do.\n"))


class Starter(unittest.TestCase):
    def test_only_the_bodies_of_tasks_change(self):
        text = starter(SAMPLER + "// [lab09 file]\n", "a.cpp")
        self.assertEqual(text, SAMPLER.replace(
            "    every(2);", '    MINI_TODO("lab09.1", "Interleave.");') + "// [lab09 file]\n")

    def test_a_long_title_is_moved_to_a_second_line(self):
        lines = starter(PARTITION, "a.cpp").split("\n")
        index = lines.index('    MINI_TODO("lab07.2",')
        self.assertTrue(lines[index + 1].startswith('              "Hand out one rank\'s part'))
        self.assertNotIn("    take();", lines)

    def test_quotes_in_a_title_are_escaped(self):
        text = starter('// [lab07.1] Say "so".\nx();\n// [lab07.1]', "a.cpp")
        self.assertIn(r'"Say \"so\".");', text)

    def test_a_starter_has_the_same_regions(self):
        text = starter(PARTITION, "a.cpp")
        self.assertEqual([region.task for region in regions_in(text, "a.cpp")],
                         ["07.1", "07.2"])
        self.assertEqual(starter(text, "a.cpp"), text)


class Cores(unittest.TestCase):
    def test_file_markers_enclose_all_regions_and_are_lines_of_no_region(self):
        self.assertEqual(core_in(CORE, "a.cpp"), (2, 25))
        self.assertEqual(core_in(PARTITION, "a.cpp"), (0, 0))
        self.assertEqual([region.task for region in regions_in(CORE, "a.cpp")], ["09.1"])
        self.assertIn("    return 2 * i;", solution_of(CORE, "a.cpp"))
        self.assertFalse([line for line in solution_of(CORE, "a.cpp") if "[lab" in line])

    def test_a_wrong_pair_is_reported(self):
        one = CORE.removesuffix("// [lab09 file]\n")
        for text in (one, one + "// [lab08 file]\n", one.replace("[lab09 file]", "[lab08 file]", 1)
                     + "// [lab08 file]\n", CORE + "// [lab09 file]\n",
                     one.replace("    return", "// [lab09 file]\n    return"),
                     CORE + "// [lab09.2] Do.\nx();\n// [lab09.2]\n"):
            with self.assertRaisesRegex(LabError, "a.cpp:3: a core has two lines"):
                core_in(text, "a.cpp")
        with self.assertRaisesRegex(LabError, "not a marker"):
            regions_in(CORE.replace("// [lab09 file]", " // [lab09 file]"), "a.cpp")
