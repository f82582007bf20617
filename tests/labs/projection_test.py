"""A lab's check compiles the learner's files of this lab, and no others."""

import unittest

from fake_tree import PARTITION, SAMPLER, FakeTree
from lab_tool import projection

MINE = PARTITION.replace("return index[i];", "int j = i;\n    return j;")


class Projection(FakeTree):
    def setUp(self):
        super().setUp()
        self.write("work/libmini/part.cpp", MINE)

    def project(self, lab, mine=None):
        projection.project(self.workspace(), lab, mine, self.root / "build")
        folder = self.root / "build/mine" / lab
        return {str(path.relative_to(folder)): path.read_text()
                for path in folder.rglob("*") if path.is_file()}

    def test_the_learners_files_of_the_lab_and_new_files_are_written(self):
        self.write("work/libmini/sampler.cpp", SAMPLER)
        self.write("work/libmini/helper.hpp", "int help();\n")
        self.write("work/.backup/1/libmini/part.cpp", "old();\n")
        found = self.project("07")
        self.assertEqual(sorted(found), ["libmini/helper.hpp", "libmini/part.cpp"])
        self.assertEqual(found["libmini/part.cpp"], '#line 1 "work/libmini/part.cpp"\n' + MINE)
        self.assertEqual(sorted(self.project("09")), ["libmini/helper.hpp", "libmini/sampler.cpp"])
        self.assertEqual(sorted(self.project("09", {"07", "09"})),
                         ["libmini/helper.hpp", "libmini/part.cpp", "libmini/sampler.cpp"])

    def test_a_copy_of_a_file_without_regions_belongs_to_no_lab(self):
        self.write("libmini/whole.cpp", "theirs();\n")
        self.write("work/libmini/whole.cpp", "mine();\n")
        self.assertNotIn("libmini/whole.cpp", self.project("07"))
        self.assertIn("libmini/whole.cpp", self.project("07", {"07", projection.NO_LAB}))

    def test_a_deleted_file_goes_and_an_unchanged_one_is_not_written_again(self):
        self.write("work/libmini/helper.hpp", "int help();\n")
        self.project("07")
        part = self.root / "build/mine/07/libmini/part.cpp"
        before = part.stat().st_mtime_ns
        (self.root / "work/libmini/helper.hpp").unlink()
        self.assertEqual(sorted(self.project("07")), ["libmini/part.cpp"])
        self.assertEqual(part.stat().st_mtime_ns, before)
