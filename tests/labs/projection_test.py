"""A lab's check compiles the learner's files, with the reference's code in other labs' regions."""

import unittest

from fake_tree import PARTITION, FakeTree
from lab_tool import projection

MINE = PARTITION.replace("return index[i];", "int j = i;\n    return j;").replace(
    "every(2);", "every(3);")


class Projection(FakeTree):
    def setUp(self):
        super().setUp()
        self.write("work/libmini/part.cpp", MINE)

    def project(self, lab, mine=None):
        projection.project(self.workspace(), lab, mine, self.root / "build")
        folder = self.root / "build/mine" / lab
        return {str(path.relative_to(folder)): path.read_text()
                for path in folder.rglob("*") if path.is_file()}

    def test_only_the_regions_of_the_lab_are_the_learners(self):
        text = self.project("07")["libmini/part.cpp"]
        self.assertIn("return j;", text)
        self.assertIn("every(2);", text)
        text = self.project("09")["libmini/part.cpp"]
        self.assertIn("return index[i];", text)
        self.assertIn("every(3);", text)
        text = self.project("09", {"07", "09"})["libmini/part.cpp"]
        self.assertIn("return j;", text)
        self.assertIn("every(3);", text)

    def test_every_line_keeps_the_number_that_it_has_in_its_own_file(self):
        place, places = ("", 0), {}
        for line in self.project("09")["libmini/part.cpp"].splitlines():
            if line.startswith("#line"):
                _, number, name = line.split()
                place = (name.strip('"'), int(number))
            else:
                places[line.strip()] = place
                place = (place[0], place[1] + 1)
        for line, (path, text) in {"return index[i];": ("libmini/part.cpp", PARTITION),
                                   "void cut() {": ("work/libmini/part.cpp", MINE),
                                   "every(3);": ("work/libmini/part.cpp", MINE)}.items():
            stripped = [each.strip() for each in text.splitlines()]
            self.assertEqual(places[line], (path, stripped.index(line) + 1))

    def test_files_of_other_labs_are_left_out_and_the_learners_new_files_are_not(self):
        self.write("libmini/other.cpp", "// [lab09.1] Twice.\na();\n// [lab09.1]\n")
        self.write("work/libmini/other.cpp", "// [lab09.1] Twice.\nb();\n// [lab09.1]\n")
        self.write("work/libmini/helper.hpp", "int help();\n")
        self.write("work/.backup/1/libmini/part.cpp", "old();\n")
        self.assertEqual(sorted(self.project("07")), ["libmini/helper.hpp", "libmini/part.cpp"])
        self.assertEqual(sorted(self.project("09")),
                         ["libmini/helper.hpp", "libmini/other.cpp", "libmini/part.cpp"])

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

    def test_a_header_with_a_region_is_always_written(self):
        header = "// [lab07.3] Do.\na();\n// [lab07.3]\n"
        self.write("libmini/part.hpp", header)
        self.assertEqual(self.project("07")["libmini/part.hpp"],
                         '#line 1 "libmini/part.hpp"\n' + header)
        self.assertNotIn("libmini/part.hpp", self.project("09"))
        self.write("work/libmini/part.hpp", header.replace("a()", "b()"))
        self.assertIn("b();", self.project("07")["libmini/part.hpp"])
        projection.project(self.workspace(), "07", build=self.root / "build",
                           without={"libmini/part.hpp"})
        text = (self.root / "build/mine/07/libmini/part.hpp").read_text()
        self.assertIn("a();", text)

    def test_a_file_without_a_marker_is_compiled_as_it_is(self):
        self.write("work/libmini/part.cpp", MINE.replace("// [lab07.1]\n}", "}"))
        self.assertIn("every(3);", self.project("07")["libmini/part.cpp"])


if __name__ == "__main__":
    unittest.main()
