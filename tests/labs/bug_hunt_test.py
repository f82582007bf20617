"""Lab 07's bug hunt ends with 0 when both of its bugs are mended, and not before.

MINI_BIN_DIR names the folder of the programs: the hunt, and three copies with bugs mended.
"""

import os
import subprocess
import unittest

BIN = os.environ["MINI_BIN_DIR"]


def hunt(mended):
    """The exit code and the output of lab 07's hunt, with what is `mended`."""
    done = subprocess.run([f"{BIN}/lab07_bug_hunt{mended}"], capture_output=True, text=True,
                          timeout=60, check=False)
    return done.returncode, done.stdout


class BugHunt(unittest.TestCase):
    def test_both_bugs_show(self):
        code, output = hunt("")
        self.assertEqual(code, 1)
        self.assertIn("the test says: the parts are disjoint\n", output)
        self.assertNotIn("dealt twice: ;", output)

    def test_with_the_division_mended_the_test_is_still_wrong(self):
        code, output = hunt("_division_mended")
        self.assertEqual(code, 1)
        self.assertIn("dealt twice: ; never: \n", output)
        self.assertIn("the test is still wrong", output)

    def test_with_the_test_mended_it_says_that_parts_overlap(self):
        code, output = hunt("_test_mended")
        self.assertEqual(code, 1)
        self.assertIn("the test says: the parts are not disjoint\n", output)

    def test_with_both_mended_it_ends_well(self):
        code, output = hunt("_both_mended")
        self.assertEqual(code, 0, output)
        self.assertIn("the test says: the parts are disjoint\n", output)
        self.assertIn("dealt twice: ; never: \n", output)


if __name__ == "__main__":
    unittest.main()
