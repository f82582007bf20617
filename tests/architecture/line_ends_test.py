"""Every text file has LF in a clone on any system, and every binary file is left as it is."""

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


if __name__ == "__main__":
    unittest.main()
