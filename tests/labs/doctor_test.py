"""The doctor finds each fault, which the tests inject, and says how to repair it."""

import contextlib
import io
import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from lab_tool import packages
from lab_tool.verbs import doctor
from lab_tool.verbs.doctor import Finding

GB = 1 << 30


def report(*found, mini=None):
    """Returns the exit code and the output of a doctor whose checks have these findings."""
    out = io.StringIO()
    with mock.patch.object(doctor, "CHECKS", (lambda: iter(found),)), \
            mock.patch.object(doctor, "bin_dir", return_value=Path(mini or "/none")), \
            contextlib.redirect_stdout(out):
        code = doctor.run(SimpleNamespace(n=3, preset="release"))
    return code, out.getvalue()


class Report(unittest.TestCase):
    def test_only_a_failure_changes_the_exit_code(self):
        fine = [Finding("ok", "cmake", "3.25"), Finding("warn", "disk", "1 GiB", "make room"),
                Finding("info", "GPU", "none")]
        self.assertEqual(report(*fine)[0], 0)
        self.assertEqual(report(*fine, Finding("fail", "cmake", "missing"))[0], 1)

    def test_the_remedy_is_below_the_finding(self):
        self.assertIn("warn  disk                    1 GiB\n      -> make room\n",
                      report(Finding("warn", "disk", "1 GiB", "make room"))[1])

    def test_no_line_is_longer_than_80_columns(self):
        out = report(Finding("fail", "disk", "much " * 30, "room " * 30))[1]
        self.assertLessEqual(max(map(len, out.splitlines())), 80)
        self.assertEqual((out.count("much"), out.count("room")), (30, 30))

    def test_without_mini_a_line_says_how_to_build_it(self):
        code, out = report()
        self.assertEqual(code, 0)
        self.assertRegex(out, r"info  ranks +not checked: no /none/mini\n      -> labs/lab mini doctor")

    def test_mini_checks_the_rest_and_its_failure_is_the_doctors(self):
        for failure in (0, 1):
            with tempfile.TemporaryDirectory() as folder:
                fake(folder, "mini", f'echo "$@" > {folder}/words; exit {failure}')
                self.assertEqual(report(mini=folder), (failure, ""))
                self.assertEqual(Path(folder, "words").read_text(), "doctor -n 3\n")


def fake(folder, name, script):
    path = Path(folder) / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


class Faults(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def found(self, check, what):
        """Returns the finding of `check` about `what`, with only the fake programs in PATH."""
        with mock.patch.dict(os.environ, {"PATH": self.folder, "CPATH": ""}):
            return {finding.what: finding for finding in check()}[what]

    def test_a_program_that_is_missing(self):
        for name, level in (("g++", "fail"), ("cmake", "fail"), ("ninja-build", "fail"),
                            ("openmpi-bin", "warn"), ("libopenmpi-dev", "warn")):
            finding = self.found(doctor.check_packages, name)
            self.assertEqual((finding.level, finding.remedy), (level, "run: labs/lab setup"))
            self.assertIn("missing", finding.found)

    def test_a_program_that_is_too_old(self):
        for name, package, version in (("g++", "g++", "11.4.0"), ("cmake", "cmake", "3.22.1")):
            fake(self.folder, name, f"echo {name} {version}")
            finding = self.found(doctor.check_packages, package)
            self.assertEqual((finding.level, finding.found), ("fail", version))
            self.assertIn("or newer is needed", finding.remedy)

    def test_a_library_that_is_missing(self):
        with mock.patch.object(packages, "INCLUDE_DIRS", (self.folder,)):
            self.assertEqual(self.found(doctor.check_packages, "libeigen3-dev").level, "fail")
            self.assertEqual(self.found(doctor.check_packages, "libgloo-dev").level, "warn")
            Path(self.folder, "zlib.h").touch()
            self.assertEqual(self.found(doctor.check_packages, "zlib1g-dev").level, "ok")

    def test_a_compiler_without_sanitizers(self):
        fake(self.folder, "g++", "exit 1")
        finding = self.found(doctor.check_sanitizers, "sanitizer thread")
        self.assertEqual(finding.level, "warn")
        self.assertIn("tsan will not work", finding.remedy)

    def test_a_machine_that_is_too_small(self):
        with mock.patch("os.sysconf", return_value=1 << 15), \
                mock.patch("shutil.disk_usage", return_value=SimpleNamespace(free=2 * GB)):
            for what, remedy in (("memory", "add swap"), ("free disk", "builds")):
                finding = self.found(doctor.check_machine, what)
                self.assertEqual(finding.level, "warn")
                self.assertIn(remedy, finding.remedy)

    def toolkit(self):
        with mock.patch.object(doctor, "CUDA_FOLDER", self.folder):
            return self.found(doctor.check_cuda, "CUDA toolkit")

    def test_a_cuda_toolkit_that_is_missing_or_too_old(self):
        self.assertEqual(self.toolkit().level, "info")
        fake(self.folder, "nvidia-smi", "echo NVIDIA T4")
        finding = self.toolkit()
        self.assertEqual((finding.level, finding.found), ("warn", "none, for NVIDIA T4"))
        self.assertIn("install CUDA", finding.remedy)

        for release, level in (("12.2", "warn"), ("12.3", "ok"), ("13.0", "ok")):
            fake(self.folder, "nvcc", f"echo Cuda compilation tools, release {release}, V{release}.1")
            self.assertEqual(self.toolkit().level, level)

    def test_data_that_is_not_there(self):
        with mock.patch.object(doctor, "mnist_folder", return_value=None):
            self.assertIn("data/fetch_mnist", self.found(doctor.check_data, "MNIST").remedy)


class ThisMachine(unittest.TestCase):
    def test_every_line_fits_in_80_columns_and_has_no_colours_in_a_pipe(self):
        done = subprocess.run(["labs/lab", "doctor", "--preset", "none"], capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        for line in done.stdout.splitlines():
            self.assertRegex(line, r"^(ok   |info |warn |fail | {5}) \S.{0,73}$")
        self.assertIn("\n      -> ", done.stdout)  # of the missing mini


if __name__ == "__main__":
    unittest.main()
