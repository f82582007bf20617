"""What labs/lab submit packs and refuses, and what labs/lab grade --submission accepts."""

import json
import zipfile

from fake_tree import PARTITION, FakeTree
from lab_tool import submission
from lab_tool.screen import LabError

SOURCE = "07-partition/part.cpp"
HUNT, TEST = "07-partition/bug_hunt.cpp", "07-partition/my_test.cpp"


class Submission(FakeTree):
    def setUp(self):
        super().setUp()
        self.zip = self.root / "out" / "ada.zip"
        self.patch(("lab_tool.workspace.Catalogue", self.catalogue), ("lab_tool.verbs.submit.ZIP", self.zip))
        self.write(f"work/{SOURCE}", PARTITION)

    def submit(self, *words, code=0):
        return self.call("submit", *words, code=code)

    def unpack(self, path=None):
        clone = self.root / "clone"
        submission.unpack(path or self.zip, clone)
        return sorted(each.relative_to(clone / "work").as_posix()
                      for each in (clone / "work").rglob("*") if each.is_file())

    def test_the_zip_has_the_files_and_a_manifest(self):
        self.write(f"labs/{HUNT}", "buggy")
        self.write(f"work/{HUNT}", "buggy")
        self.write("work/07-partition/added.cpp", "int added;\n")
        self.write(f"work/{TEST}", "TEST_CASE();\n")
        self.write("work/07-partition/notes.txt", "mine\n")
        self.write("work/.backup/2026/07-partition/part.cpp", "old\n")
        self.assertIn("lab 07", self.submit())
        with zipfile.ZipFile(self.zip) as file:
            names = file.namelist()
            manifest = json.loads(file.read("manifest.json"))
            self.assertEqual(file.read(SOURCE).decode(), PARTITION)
        self.assertEqual(names, ["manifest.json", "07-partition/added.cpp", HUNT, TEST, SOURCE])
        self.assertEqual((manifest["version"], manifest["labs"]), (1, ["07"]))
        self.assertIn("libmini", manifest)
        self.assertRegex(manifest["date"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$")
        self.assertEqual(self.unpack(), [".submission", "07-partition/added.cpp", HUNT, TEST, SOURCE])

    def test_links_to_files_outside_of_work_are_refused(self):
        secret = self.root / "secret.cpp"
        secret.write_text("int secret;\n")
        for place in (f"work/{SOURCE}", "work/07-partition/link.cpp"):
            (self.root / place).unlink(missing_ok=True)
            (self.root / place).symlink_to(secret)
            self.assertIn(f"{place} is a link", self.submit(code=1))
            (self.root / place).unlink()
            self.write(f"work/{SOURCE}", PARTITION)
        (self.root / "work/07-partition/folder").symlink_to(self.root)
        self.assertIn("is a link", self.submit(code=1))
        self.assertFalse(self.zip.exists())

    def test_a_lab_that_is_not_started_or_a_missing_file_is_refused(self):
        self.assertIn("lab 09 is not started", self.submit("9", code=1))
        (self.root / "work" / SOURCE).unlink()
        self.write("work/07-partition/other.cpp", "")
        self.assertIn("lab 07 is not started", self.submit("7", code=1))

    def write_zip(self, **files):
        path = self.root / "bad.zip"
        with zipfile.ZipFile(path, "w") as file:
            for name, text in files.items():
                file.writestr(name, text)
        return path

    def test_names_outside_of_work_are_not_accepted(self):
        for name in ("../outside.cpp", "/etc/outside.cpp", "07-partition/../../outside.cpp",
                     "07-partition/..\\..\\outside.cpp", "libmini/part.cpp", "labs/lab_tool/cli.py", "CMakeLists.txt",
                     "outside.cpp", "07-partition/CMakeLists.txt", "tests/a.cpp"):
            with self.assertRaisesRegex(LabError, "the submission has the file"):
                self.unpack(self.write_zip(**{SOURCE: PARTITION, name: "x"}))
            self.assertFalse((self.root / "clone/work").exists(), name)
        self.assertFalse(list(self.root.glob("**/outside.cpp")))

    def test_what_a_system_adds_to_a_zip_is_ignored(self):
        path = self.write_zip(**{SOURCE: PARTITION, ".DS_Store": "x", f"__MACOSX/._{SOURCE}": "x",
                                 "07-partition/.partition.cpp.swp": "x"})
        self.assertEqual(self.unpack(path), [".submission", SOURCE])

    def test_a_large_or_damaged_zip_is_not_accepted(self):
        big = self.write_zip(**{SOURCE: "x" * (submission.MOST_BYTES + 1)})
        with self.assertRaisesRegex(LabError, "at most"):
            self.unpack(big)
        big.write_bytes(b"PK\x03\x04 not a zip")
        with self.assertRaisesRegex(LabError, "is not a zip"):
            self.unpack(big)
        with self.assertRaisesRegex(LabError, "has no source"):
            self.unpack(self.write_zip())
        with self.assertRaisesRegex(LabError, "there is no such submission"):
            self.unpack(self.root / "missing.zip")

    def test_a_folder_is_a_submission_and_replaces_an_earlier_one_but_no_learners_work(self):
        folder = self.root / "upload"
        self.write(f"upload/work/{SOURCE}", PARTITION)
        self.write("upload/work/.lab.json", "{}")
        self.assertEqual(self.unpack(folder), [".submission", SOURCE])
        (folder / "work" / SOURCE).rename(folder / "work/07-partition/next.cpp")
        self.assertEqual(self.unpack(folder), [".submission", "07-partition/next.cpp"])
        with self.assertRaisesRegex(LabError, "a learner's work"):
            submission.unpack(folder, self.root)
