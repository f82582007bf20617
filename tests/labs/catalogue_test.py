"""Labs are read from their folders, task tables and hints."""

from fake_tree import PARTITION, SAMPLER, FakeTree
from author_tool import rules
from author_tool.mutants import read_mutants
from lab_tool.screen import LabError


class Labs(FakeTree):
    def test_a_lab_is_a_folder_whose_readme_has_a_task_table(self):
        self.write("labs/12-launcher/README.md", "# Lab 12\n\nNo tasks yet.\n")
        labs = self.catalogue().labs
        self.assertEqual([(lab.number, lab.title) for lab in labs],
                         [("07", "Partition"), ("09", "Sampler")])
        self.assertEqual([task.name for task in labs[0].tasks], ["07.1", "07.2"])
        self.assertEqual(labs[0].tasks[0].done_when, "it is done")

    def test_labs_and_tasks_have_several_spellings(self):
        catalogue = self.catalogue()
        for spelling in ("7", "07", "lab07"):
            self.assertEqual(catalogue.lab(spelling).number, "07")
        for spelling in ("7.2", "07.2", "lab07.2"):
            self.assertEqual(catalogue.task(spelling)[1].name, "07.2")

    def test_an_unknown_lab_or_task_is_reported_with_the_existing_ones(self):
        for ask, says in ((lambda: self.catalogue().lab("8"), "no lab 8; labs: 07, 09"),
                          (lambda: self.catalogue().task("7.9"), "its tasks: 07.1, 07.2"),
                          (lambda: self.catalogue().task("7"), "names no task")):
            with self.assertRaisesRegex(LabError, says):
                ask()

    def test_hints_are_in_order(self):
        lab = self.catalogue().lab("7")
        self.assertEqual(lab.hints("07.1"), ["Think.", "Look.", "Do."])
        self.assertEqual(lab.hints("07.9"), [])

    def test_a_task_has_the_points_of_its_row(self):
        text = (self.root / "labs/07-partition/README.md").read_text()
        self.write("labs/07-partition/README.md", text.replace("done | 5 |", "done | 20 |", 1))
        self.assertEqual([task.points for task in self.catalogue().lab("7").tasks], [20, 5])

    def test_a_bonus_counts_extra_and_a_task_without_regions_has_its_rows_file(self):
        text = (self.root / "labs/07-partition/README.md").read_text()
        self.write("labs/07-partition/README.md",
                   text + "| 07.3 | Bonus: bits | `part.cpp` | exact | 5 |\n")
        task = self.catalogue().lab("7").tasks[-1]
        self.assertEqual((task.points, task.of), (5, 0))
        self.assertEqual(self.catalogue().files_of(task="07.3"), ["libmini/part.cpp"])
        self.assertEqual(self.catalogue().files_of(task="07.hunt"), [])

    def test_code_at_the_beginning_of_a_hint_keeps_its_indentation(self):
        self.write("labs/07-partition/hints/07.1.md", "## 1\n\n    a();\n    b();\n\n## 2\n")
        self.assertEqual(self.catalogue().lab("7").hints("07.1"), ["    a();\n    b();"])


class Rules(FakeTree):
    """The rules of dev check that need no build: a tree that obeys them, and violations of each."""

    def complaints(self):
        catalogue = self.catalogue()
        return [*rules.check_regions(catalogue), *rules.check_tasks(catalogue),
                *rules.check_mutants(catalogue, read_mutants(catalogue))]

    def only_complaint(self, says):
        found = self.complaints()
        self.assertEqual(len(found), 1, found)
        self.assertIn(says, found[0])

    def test_a_row_without_points_is_wrong(self):
        text = (self.root / "labs/09-sampler/README.md").read_text()
        for points in ("", " | ", " 7 |", " many |"):
            self.write("labs/09-sampler/README.md", text.replace(" 5 |", points))
            self.only_complaint("the row 09.1 ends with its points, a multiple of 5; it has")

    def test_a_tidy_tree_has_no_complaints(self):
        self.assertEqual(self.complaints(), [])

    def test_a_title_that_is_not_a_sentence(self):
        self.write("libmini/part.cpp", PARTITION.replace("Look", "look"))
        self.only_complaint("libmini/part.cpp:2: the title is not a sentence")

    def test_a_region_that_is_too_long(self):
        self.write("libmini/sampler.cpp", SAMPLER.replace("every(2);", "\n" * 25))
        self.only_complaint("the region has 26 lines, not 1 to 25")

    def test_regions_of_kernels_are_found(self):
        self.write("libmini/part.cu", "// [lab07.3] Do.\nx();\n// [lab07.3]\n")
        regions = {region.task: region for region in self.catalogue().regions}
        self.assertEqual(regions["07.3"].path, "libmini/part.cu")
        self.assertEqual([task for task in sorted(regions) if regions[task].in_device_file], ["07.3"])

    def test_a_region_in_a_header(self):
        self.write("libmini/part.hpp", "// [lab07.1] Do.\nx();\n// [lab07.1]\n")
        self.only_complaint("libmini/part.hpp:1: the region is in a header")

    def test_a_lambda_that_returns_in_a_region_needs_a_return_type(self):
        text = ("void all() {\n    each([&](int i) {\n        // [lab07.1] Do.\n        return i;\n"
                "        // [lab07.1]\n    });\n}\n")
        for changed, count in ((text, 1), (text.replace(") {\n   ", ") -> int {\n   "), 0),
                               (text.replace("return i", "use(i)"), 0)):
            self.write("libmini/part.cpp", changed)
            self.assertEqual(len(list(rules.check_lambdas(self.catalogue()))), count, changed)

    def test_a_file_with_regions_of_two_labs(self):
        self.write("libmini/part.cpp", PARTITION + SAMPLER)
        self.assertIn("libmini/part.cpp:2: the file has regions of another lab", self.complaints()[0])

    def test_a_region_without_a_row_and_a_row_without_a_region(self):
        self.write_lab("07-partition", "Partition", ["07.1", "07.3"])
        found = self.complaints()
        self.assertIn("task 07.2 has no row", found[0])
        self.assertIn("task 07.3 has no region", found[1])
        self.assertEqual(len(found), 2)

    def test_too_few_mutants(self):
        self.write_mutants("09.1", "bcd")
        self.only_complaint("lab 09 has 3 mutants, not at least 4")
