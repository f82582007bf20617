"""A lab's check compiles the learner's files of this lab, and no others."""

from fake_tree import PARTITION, SAMPLER, FakeTree
from lab_tool import projection

class Projection(FakeTree):
    def setUp(self):
        super().setUp()
        self.write("work/07-partition/part.cpp", PARTITION)

    def project(self, lab, mine=None, without=()):
        projection.project(self.workspace(), lab, mine, self.root / "build", without)
        folder = self.root / "build/mine" / lab
        return {str(path.relative_to(folder)): path.read_text()
                for path in folder.rglob("*") if path.is_file()}

    def test_the_learners_files_of_the_lab_and_its_new_files_are_included(self):
        self.write("work/09-sampler/sampler.cpp", SAMPLER)
        for name in ("bug_hunt", "my_test"):  # programs of their own
            self.write(f"work/09-sampler/{name}.cpp", "main();\n")
        self.write("work/07-partition/helper.hpp", "int help();\n")
        self.write("work/07-partition/helper.cpp", "int help() { return 1; }\n")
        self.write("work/.backup/1/07-partition/part.cpp", "old();\n")
        part, helper, sampler = ("libmini/part.cpp", "libmini/lab07/helper.cpp", "libmini/sampler.cpp")
        found = self.project("07")
        self.assertEqual(sorted(found), [helper, part])
        self.assertEqual(found[part], f'#include "{self.root}/work/07-partition/part.cpp"\n')
        self.assertEqual(sorted(self.project("09")), [sampler])
        self.assertEqual(sorted(self.project("09", {"07", "09"})), [helper, part, sampler])
        self.assertEqual(sorted(self.project("07", without=["07-partition/helper.cpp"])), [part])

    def test_a_file_with_kernels_is_copied(self):
        self.write("libmini/part.cpp", "")
        self.write("libmini/part.cu", PARTITION)
        self.write("work/07-partition/part.cu", PARTITION)
        self.assertEqual(self.project("07")["libmini/part.cu"],
                         '#line 1 "work/07-partition/part.cu"\n' + PARTITION)

    def test_a_deleted_file_goes_and_an_unchanged_one_is_not_written_again(self):
        self.write("work/07-partition/helper.cpp", "int help();\n")
        self.project("07")
        part = self.root / "build/mine/07/libmini/part.cpp"
        before = part.stat().st_mtime_ns
        (self.root / "work/07-partition/helper.cpp").unlink()
        self.assertEqual(sorted(self.project("07")), ["libmini/part.cpp"])
        self.assertEqual(part.stat().st_mtime_ns, before)
