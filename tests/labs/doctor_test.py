"""The doctor finds each fault, which the tests inject, and says how to repair it."""

import contextlib
import io
import os
import resource
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


def report(*found):
    """Returns the exit code and the output of a doctor whose checks have these findings."""
    out = io.StringIO()
    with mock.patch.object(doctor, "CHECKS", (lambda: iter(found),)), \
            mock.patch.object(doctor, "check_ranks", lambda ranks: iter([Finding("ok", "ranks", str(ranks))])), \
            contextlib.redirect_stdout(out):
        code = doctor.run(SimpleNamespace(n=3))
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

    def test_ranks_are_those_of_the_option(self):
        self.assertRegex(report()[1], r"^ok    ranks +3$")


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


    def rank_finding(self, what, ranks=4):
        return {finding.what: finding for finding in doctor.check_ranks(ranks)}[what]

    def test_limits_that_are_too_small_for_the_ranks(self):
        with mock.patch("os.sched_getaffinity", return_value={0, 1, 2}), \
                mock.patch("shutil.disk_usage", return_value=SimpleNamespace(free=64 << 20)), \
                mock.patch("resource.getrlimit", return_value=(256, 256)):
            for what, remedy in (("cores", "at most 3"), ("/dev/shm", "--shm-size"),
                                 ("open files", "ulimit -n 272")):
                finding = self.rank_finding(what)
                self.assertEqual(finding.level, "warn")
                self.assertIn(remedy, finding.remedy)
        with mock.patch("resource.getrlimit", return_value=(resource.RLIM_INFINITY,) * 2):
            self.assertEqual(self.rank_finding("open files").level, "ok")

    def network(self, what):
        return {finding.what: finding for finding in doctor.check_network()}[what]

    def test_a_network_that_connects_no_ranks(self):
        self.assertEqual(self.network("loopback").level, "ok")
        with mock.patch("socket.create_server", side_effect=OSError("Network is unreachable")):
            finding = self.network("loopback")
        self.assertEqual((finding.level, finding.found), ("fail", "Network is unreachable"))
        self.assertIn("ip link set lo up", finding.remedy)
        with mock.patch("socket.gethostbyname", side_effect=OSError):
            finding = self.network("host name")
        self.assertEqual(finding.level, "warn")
        self.assertIn("/etc/hosts", finding.remedy)

    def test_a_driver_older_than_the_toolkit(self):
        for driver, level in (("11.8", "warn"), ("12.0", "ok"), ("13.0", "ok")):
            fake(self.folder, "nvidia-smi", f'[ $# = 0 ] && echo "CUDA Version: {driver} |" || echo NVIDIA T4')
            fake(self.folder, "nvcc", "echo Cuda compilation tools, release 12.4, V12.4.1")
            with mock.patch.object(doctor, "CUDA_FOLDER", self.folder):
                finding = self.found(doctor.check_cuda, "CUDA driver")
            self.assertEqual((finding.level, finding.found), (level, driver))


class ThisMachine(unittest.TestCase):
    def test_every_line_fits_in_80_columns_and_has_no_colours_in_a_pipe(self):
        done = subprocess.run(["labs/lab", "doctor", "-n", "9999"], capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        for line in done.stdout.splitlines():
            self.assertRegex(line, r"^(ok   |info |warn |fail | {5}) \S.{0,73}$")
        self.assertIn("\n      -> ", done.stdout)  # of the cores


if __name__ == "__main__":
    unittest.main()
