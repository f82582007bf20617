"""Starting and resetting labs in work/ never loses what the learner wrote."""

import unittest

from fake_tree import PARTITION, FakeTree
from lab_tool.regions import starter
from lab_tool.screen import LabError
from lab_tool.workspace import files_amiss


class Start(FakeTree):
    def test_it_writes_the_starter_of_that_lab_only(self):
        self.assertEqual(self.workspace().start("07"), ["libmini/part.cpp"])
        self.assertEqual(self.own(), starter(PARTITION, "a.cpp", {"07.1", "07.2"}))

    def test_a_second_lab_in_the_same_file_keeps_what_was_written_for_the_first(self):
        self.workspace().start("07")
        mine = self.own().replace('MINI_TODO("lab07.1", "Look the place up.");', "return mine;")
        self.write("work/libmini/part.cpp", mine)
        self.workspace("07").start("09")
        self.assertIn("return mine;", self.own())
        self.assertIn('MINI_TODO("lab09.1"', self.own())

    def test_code_of_a_lab_that_the_tool_has_forgotten_stays(self):
        self.write("work/libmini/part.cpp", PARTITION.replace("return index[i];", "return mine;"))
        self.workspace().start("07")
        self.assertIn("return mine;", self.own())
        self.assertIn('MINI_TODO("lab07.2"', self.own())

    def test_a_started_labs_file_is_written_only_where_it_is_missing(self):
        self.write("work/libmini/part.cpp", PARTITION)
        self.workspace("07").start("07")
        self.assertEqual(self.own(), PARTITION)

    def test_a_lab_counts_as_started_only_by_its_own_start(self):
        workspace = self.workspace("07")
        workspace.start("07")
        self.assertTrue(workspace.started("07"))
        self.assertFalse(workspace.started("09"))

    def test_a_lab_without_regions_cannot_start(self):
        with self.assertRaisesRegex(LabError, "lab 08 has no regions"):
            self.workspace().start("08")


class Reset(FakeTree):
    def setUp(self):
        super().setUp()
        self.write("work/libmini/part.cpp", PARTITION.replace("return index[i];", "return mine;")
                   .replace("every(2);", "every(mine);") + "// my note\n")
        self.before = self.own()

    def test_one_task_goes_back_and_all_else_stays(self):
        self.workspace("07", "09").reset("07", "07.1")
        self.assertEqual(self.own(), self.before.replace(
            "return mine;", 'MINI_TODO("lab07.1", "Look the place up.");'))

    def test_a_whole_lab_goes_back_but_other_labs_code_stays(self):
        self.workspace("07", "09").reset("07")
        self.assertEqual(self.own(), starter(PARTITION, "a.cpp", {"07.1", "07.2"})
                         .replace("every(2);", "every(mine);"))

    def test_the_files_as_they_were_are_kept_each_time(self):
        folders = [self.workspace("07").reset("07")[1] for _ in range(3)]
        self.assertEqual(len(set(folders)), 3)
        self.assertEqual((folders[0] / "libmini/part.cpp").read_text(), self.before)
        self.assertNotEqual((folders[1] / "libmini/part.cpp").read_text(), self.before)

    def test_a_file_with_broken_markers_can_be_reset_as_a_whole(self):
        self.write("work/libmini/part.cpp", "// [lab07.1] Do.\nmess")
        self.workspace("07").reset("07")
        self.assertEqual(self.own(), starter(PARTITION, "a.cpp", {"07.1", "07.2"}))


class Compare(FakeTree):
    def test_the_difference_shows_both_places(self):
        self.write("work/libmini/part.cpp", PARTITION.replace("return index[i];", "return mine;"))
        lines = self.workspace("07").difference("07.1")
        self.assertEqual(lines[:2], ["--- work/libmini/part.cpp:2", "+++ libmini/part.cpp:2"])
        self.assertIn("-    return mine;", lines)
        self.assertIn("+    return index[i];", lines)
        self.assertEqual(self.workspace("07").difference("07.2"), [])

    def test_a_task_is_untouched_until_its_todo_is_gone(self):
        workspace = self.workspace("07")
        workspace.start("07")
        self.assertTrue(workspace.untouched("07.1"))
        self.write("work/libmini/part.cpp", PARTITION)
        self.assertFalse(workspace.untouched("07.1"))

    def test_headers_that_would_hide_libminis_are_found(self):
        self.write("libmini/part.hpp", "")
        self.write("work/libmini/part.hpp", "")
        self.write("work/libmini/my_own.hpp", "")
        self.assertEqual(files_amiss(self.workspace()), ["libmini/part.hpp"])


if __name__ == "__main__":
    unittest.main()
