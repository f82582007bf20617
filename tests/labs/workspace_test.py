"""Starting and resetting labs in work/ never loses the learner's code."""

from fake_tree import CORE, PARTITION, TWICE, FakeTree
from lab_tool.regions import starter
from lab_tool.screen import LabError


class Start(FakeTree):
    def test_it_writes_the_starters_of_that_lab(self):
        self.assertEqual(self.workspace().start("07"), ["libmini/part.cpp"])
        self.assertEqual(self.own(), starter(PARTITION, "a.cpp"))
        self.assertFalse((self.root / "work/09-sampler/sampler.cpp").exists())

    def test_a_file_that_exists_stays_as_it_is(self):
        self.write("work/07-partition/part.cpp", PARTITION)
        self.workspace().start("07")
        self.assertEqual(self.own(), PARTITION)

    def test_a_lab_without_regions_cannot_start(self):
        with self.assertRaisesRegex(LabError, "lab 08 has no regions"):
            self.workspace().start("08")


class Reset(FakeTree):
    def setUp(self):
        super().setUp()
        self.write("work/07-partition/part.cpp", PARTITION.replace("return index[i];", "return mine;")
                   .replace("take();", "mine();") + "// my note\n")
        self.before = self.own()

    def test_each_reset_keeps_a_backup_of_the_files(self):
        folders = []
        for _ in range(3):
            folders.append(self.workspace().reset("07")[1])
            self.write("work/07-partition/part.cpp", self.own() + "// more\n")
        self.assertEqual(len(set(folders)), 3)
        self.assertEqual((folders[0] / "07-partition/part.cpp").read_text(), self.before)
        self.assertNotEqual((folders[1] / "07-partition/part.cpp").read_text(), self.before)

    def test_a_reset_without_a_change_is_no_reset(self):
        self.workspace().reset("07")
        self.assertEqual(self.workspace().reset("07"), ([], None))

    def test_a_file_with_broken_markers_can_be_reset_as_a_whole(self):
        self.write("work/07-partition/part.cpp", "// [lab07.1] Do.\nmess")
        self.workspace().reset("07")
        self.assertEqual(self.own(), starter(PARTITION, "a.cpp"))


EMPTY = """\
#include "libmini/sampler.hpp"

// Define these functions of namespace mini; the headers say what they do:
//
//     Sampler::Sampler(int n)
//
//     int Sampler::sample(
//         int i) const
//
//     void Sampler::notify()
"""
PATH, OWN = "libmini/sampler.cpp", "work/09-sampler/sampler.cpp"


class Core(FakeTree):
    def setUp(self):
        super().setUp()
        self.write_core()

    def own(self):
        return (self.root / OWN).read_text()

    def test_it_begins_with_its_includes_and_the_functions_to_define(self):
        self.workspace().start("09")
        self.assertEqual(self.own(), EMPTY)
        self.write("libmini/base.hpp", (self.root / "libmini/sampler.hpp").read_text())
        (self.root / "libmini/sampler.hpp").unlink()
        self.write(PATH, CORE.replace("sampler.hpp", "base.hpp"))
        self.assertEqual(self.workspace().starter(PATH), EMPTY.replace("sampler.hpp", "base.hpp"))

    def test_the_guided_form_has_todays_frame_without_file_markers(self):
        workspace = self.workspace()
        workspace.start("09", guided=True)
        self.assertEqual(self.own(), starter(CORE, PATH).replace("// [lab09 file]\n", ""))
        self.assertTrue(workspace.is_guided("09.1") and workspace.untouched("09.1"))
        workspace.reset("09")
        self.assertEqual(self.own(), EMPTY)
        workspace.reset("09", guided=True)
        self.assertIn("MINI_TODO", self.own())

    def test_a_file_that_is_written_whole_is_untouched_until_it_has_code(self):
        workspace = self.workspace()
        workspace.start("09")
        self.assertFalse(workspace.is_guided("09.1"))
        for more, untouched in (("", True), ("namespace mini {\n/* int\nx */\n}\n", True),
                                ("int helper();\n", False)):
            self.write(OWN, EMPTY + more)
            self.assertEqual(workspace.untouched("09.1"), untouched, more)
            self.assertEqual(workspace.gaps("09.1"), "")

    def test_the_difference_is_that_of_the_whole_file_without_markers(self):
        self.write(OWN, CORE.replace("    // [lab09.1] Interleave.\n", "").replace(
            "    // [lab09.1]\n", "").replace("// [lab09 file]\n", "").replace("2 * i", "3 * i"))
        lines = self.workspace().difference("09.1")
        self.assertEqual([line for line in lines if line[:1] in "+-"],
                         [f"--- {OWN}", f"+++ {PATH}", "-", "-    return 3 * i;",
                          "+    return 2 * i;", "-"])

    def test_a_file_of_frames_only_gives_all_points(self):
        self.workspace().start("07", guided=True)
        self.assertFalse(self.workspace().is_guided("07.1"))


class Compare(FakeTree):
    def test_the_difference_shows_both_locations(self):
        self.write("work/07-partition/part.cpp", PARTITION.replace("return index[i];", "return mine;"))
        lines = self.workspace().difference("07.1")
        self.assertEqual(lines[:2], ["--- work/07-partition/part.cpp:2", "+++ libmini/part.cpp:2"])
        self.assertIn("-    return mine;", lines)
        self.assertIn("+    return index[i];", lines)
        self.assertEqual(self.workspace().difference("07.2"), [])

    def test_without_markers_the_whole_region_differs(self):
        self.write("work/07-partition/part.cpp", "void cut() {\n    take();\n}\n")
        lines = self.workspace().difference("07.2")
        self.assertEqual(lines[:2], ["--- work/07-partition/part.cpp", "+++ libmini/part.cpp:8"])
        self.assertEqual(lines[-2:], ["+    take();", "+    keep();"])

    def test_a_todo_that_is_left_above_code_is_a_gap(self):
        workspace = self.workspace()
        workspace.start("07")
        self.write("work/07-partition/part.cpp", self.own().replace(
            '"Look the place up.");', '"Look the place up.");\n    return index[i];'))
        self.assertFalse(workspace.untouched("07.1"))
        self.assertIn("work/07-partition/part.cpp:3, where MINI_TODO is left in your code",
                      workspace.gaps("07.1"))
        self.assertTrue(workspace.untouched("07.2"))  # on two lines
        self.assertEqual(workspace.gaps("07.2"), "")

    def test_a_task_is_untouched_until_its_todo_is_gone(self):
        workspace = self.workspace()
        workspace.start("07")
        self.assertTrue(workspace.untouched("07.1"))
        self.write("work/07-partition/part.cpp", PARTITION)
        self.assertFalse(workspace.untouched("07.1"))

    def test_the_gaps_of_a_task_that_is_begun_are_found(self):
        self.write("libmini/part.cpp", TWICE)
        workspace = self.workspace()
        workspace.start("07")
        self.assertEqual(workspace.gaps("07.1"), "")  # not begun
        text = (self.root / "work/07-partition/part.cpp").read_text()
        begun = text.replace('MINI_TODO("lab07.1", "Look the place up.");', "return 1;")
        self.write("work/07-partition/part.cpp", begun)
        self.assertRegex(workspace.gaps("07.1"), r"^work/07-partition/part.cpp:\d+$")
        self.write("work/07-partition/part.cpp", TWICE)
        self.assertEqual(workspace.gaps("07.1"), "")
        (self.root / "work/07-partition/part.cpp").unlink()
        self.assertEqual(workspace.gaps("07.1"), "")

    def test_a_file_that_is_not_utf_8_is_named_and_not_changed(self):
        own = self.root / "work/07-partition/part.cpp"
        own.parent.mkdir(parents=True)
        own.write_bytes(b"// caf\xe9\n")
        with self.assertRaisesRegex(LabError, "work/07-partition/part.cpp is not UTF-8 text .byte 6"):
            self.workspace().reset("07")
        self.assertEqual(own.read_bytes(), b"// caf\xe9\n")

    def test_a_lab_is_started_if_one_of_its_files_is_there_as_in_a_submission(self):
        workspace = self.workspace()
        self.assertFalse(workspace.started("07"))
        workspace.start("07")
        self.assertTrue(workspace.started("07"))
        self.assertFalse(workspace.started("09"))
        self.write("work/09-sampler/my_test.cpp", "")
        self.assertFalse(workspace.started("09"))
