"""Every text file has LF in a clone on any system, and every binary file is left as it is."""

import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@unittest.skipUnless((ROOT / ".git").exists(), "not a clone")
class LineEnds(unittest.TestCase):
    def test_gits_attributes_fix_the_line_ends_of_every_file(self):
        listed = subprocess.run(["git", "ls-files", "--eol", "-z"], cwd=ROOT, capture_output=True, check=True)
        for line in listed.stdout.decode().split("\0")[:-1]:
            facts, path = line.split("\t")
            index, _, attributes = facts.split(maxsplit=2)
            with self.subTest(path):
                self.assertNotIn(index, ("i/crlf", "i/mixed"))
                self.assertIn(attributes.strip(), ("attr/text=auto eol=lf", "attr/-text"))

    def test_no_line_of_a_paragraph_begins_like_an_item_of_a_list(self):
        paragraph = re.compile(r"(?:^|\n\n)(?=[^\s\d])(?:.+\n)+\d+\. ")
        for path in [*ROOT.glob("labs/*/**/*.md"), *ROOT.glob("docs/pages/*.md")]:
            self.assertIsNone(paragraph.search(path.read_text(encoding="utf-8")), path)


if __name__ == "__main__":
    unittest.main()
