"""The doctor's findings and its exit code."""

import contextlib
import io
import unittest
from unittest import mock

from lab_tool import checks
from lab_tool.checks import Finding
from lab_tool.verbs import doctor


def report(*findings):
    out = io.StringIO()
    with mock.patch.object(doctor, "CHECKS", (lambda: iter(findings),)):
        with contextlib.redirect_stdout(out):
            code = doctor.run(None)
    return code, out.getvalue()


class Doctor(unittest.TestCase):
    def test_only_a_failure_changes_the_exit_code(self):
        fine = [Finding("ok", "cores", "2"), Finding("warn", "disk", "1 GiB", "make room"),
                Finding("info", "GPU", "none")]
        self.assertEqual(report(*fine)[0], 0)
        self.assertEqual(report(*fine, Finding("fail", "cmake", "missing"))[0], 1)

    def test_a_finding_is_one_line_with_its_next_step(self):
        self.assertEqual(report(Finding("warn", "disk", "1 GiB", "make room"))[1],
                         "warn  disk: 1 GiB -> make room\n")

    def test_a_value_below_the_minimum_is_a_warning(self):
        self.assertEqual(checks.at_least("cores", 1, 2, "1", "slow").level, "warn")
        self.assertEqual(checks.at_least("cores", 2, 2, "2", "slow").level, "ok")
        self.assertEqual(checks.at_least("cores", 2, 2, "2", "slow").next_step, "")

    def test_missing_packages_are_failures_with_a_next_step(self):
        with mock.patch("lab_tool.packages.is_present", return_value=False):
            findings = list(checks.check_packages())
        self.assertTrue(findings)
        optional = {package.name for package in checks.packages.PACKAGES if package.optional}
        for finding in findings:
            level = "warn" if finding.what in optional else "fail"
            self.assertEqual(finding.level, level, finding.what)
        self.assertTrue(all("labs/lab setup" in finding.next_step for finding in findings))

    def test_every_check_of_this_machine_yields_findings(self):
        for check in (checks.check_machine, checks.check_network, checks.check_data):
            self.assertTrue(list(check()), check.__name__)


if __name__ == "__main__":
    unittest.main()
