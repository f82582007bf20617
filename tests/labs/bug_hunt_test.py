"""Lab 07's bug hunt exits with code 0 only when both of its bugs are fixed.

MINI_BIN_DIR is the folder of the programs: the hunt, and three copies with bugs fixed.
"""

import os
import subprocess
import unittest

BIN = os.environ["MINI_BIN_DIR"]


def hunt(mended):
    """Returns the exit code and output of lab 07's hunt; `mended` names the fixed bugs."""
    done = subprocess.run([f"{BIN}/lab07_bug_hunt{mended}"], capture_output=True, text=True,
                          timeout=60, check=False)
    return done.returncode, done.stdout


class BugHunt(unittest.TestCase):
    def test_both_bugs_are_visible(self):
        code, output = hunt("")
        self.assertEqual(code, 1)
        self.assertIn("the test says: the parts are disjoint\n", output)
        self.assertNotIn("dealt twice: ;", output)

    def test_with_the_division_fixed_the_test_is_still_wrong(self):
        code, output = hunt("_division_mended")
        self.assertEqual(code, 1)
        self.assertIn("dealt twice: ; never: \n", output)
        self.assertIn("the test is still wrong", output)

    def test_with_the_test_fixed_it_reports_overlapping_parts(self):
        code, output = hunt("_test_mended")
        self.assertEqual(code, 1)
        self.assertIn("the test says: the parts are not disjoint\n", output)

    def test_with_both_bugs_fixed_it_exits_with_code_0(self):
        code, output = hunt("_both_mended")
        self.assertEqual(code, 0, output)
        self.assertIn("the test says: the parts are disjoint\n", output)
        self.assertIn("dealt twice: ; never: \n", output)


if __name__ == "__main__":
    unittest.main()
