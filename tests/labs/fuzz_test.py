"""`labs/lab fuzz`: commands, parsing of libFuzzer output, reports; a script replaces mini_fuzz."""

import contextlib
import io
import os
import stat
import tempfile
import unittest
from argparse import ArgumentParser
from pathlib import Path
from unittest import mock

from lab_tool import packages
from lab_tool.screen import LabError
from lab_tool.verbs import fuzz as verb, setup

# Reports a fault for every input of target png, and none for other targets.
PROGRAM = r"""#!/bin/sh
for word; do
    case $word in
        --write-seeds=*) folder=${word#*=} ;;
        --target=*) target=${word#*=} ;;
        -artifact_prefix=*) prefix=${word#*=} ;;
        -exact_artifact_path=*) smaller=${word#*=} ;;
        -max_total_time=*) echo "for ${word#*=} s" ;;
    esac
done
if [ "$folder" ]; then
    for name in idx png store; do
        mkdir -p "$folder/$name"
        echo seed > "$folder/$name/seed-0"
        echo $name
    done
    exit 0
fi
if [ "$smaller" ]; then printf x > "$smaller"; exit 0; fi
if [ $target = broken ]; then echo "no such option"; exit 2; fi
if [ $target = png ]; then
    echo "==7==ERROR: AddressSanitizer: heap-buffer-overflow"
    echo "    #0 0x1 in memcpy (mini_fuzz+0x1)"
    echo "    #1 0x2 in mini::data::(anonymous namespace)::decode(int) ../../libmini/datasets/image_png.cpp:12:3"
    echo "SUMMARY: AddressSanitizer: heap-buffer-overflow"
    if [ "$prefix" ]; then
        echo damage > "${prefix}crash-0123"
        echo "artifact_prefix='$prefix'; Test unit written to ${prefix}crash-0123"
        echo "stat::number_of_executed_units: 7"
    fi
    exit 77
fi
echo "stat::number_of_executed_units: 1200"
echo "stat::average_exec_per_sec:     400"
"""


class FuzzTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        program = self.root / "mini_fuzz"
        program.write_text(PROGRAM)
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        replaced = mock.patch.multiple(
            verb, PROGRAM=program, CORPUS=self.root / "corpus", CRASHES=self.root / "crashes",
            LOGS=self.root / "logs", PAUSE=0.01, build=mock.DEFAULT,
            install_missing=mock.DEFAULT)
        replaced.start()
        self.addCleanup(replaced.stop)

    def fuzz(self, *words):
        """Returns the exit code and the printed text."""
        parser = ArgumentParser()
        verb.add_arguments(parser)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = verb.run(parser.parse_args(words))
        return code, out.getvalue()


class Run(FuzzTest):
    def test_without_a_fault_the_table_shows_runs_speed_and_corpus(self):
        code, out = self.fuzz("idx", "store", "--seconds", "1")
        self.assertEqual(code, 0)
        self.assertRegex(out, r"\nidx +1200 +400 +1 +0\nstore +1200 +400 +1 +0\n"
                              r"2 targets, 2400 runs, 0 faults\n$")

    def test_a_fault_is_minimised_and_reported_with_its_reason_and_the_replay_command(self):
        code, out = self.fuzz("--seconds", "1")
        self.assertEqual(code, 1)
        kept = self.root / "crashes" / "png-crash-0123-small"
        self.assertEqual(kept.read_text(), "x")
        self.assertIn(f"FAULT: png broke on {kept} (1 bytes)", out)
        self.assertIn("heap-buffer-overflow\n  |     #1 mini::data::decode libmini/datasets/", out)
        self.assertNotIn("memcpy", out)
        self.assertIn(f"again: labs/lab fuzz --replay {kept}", out)
        self.assertIn("3 targets, 2407 runs, 1 faults", out)

    def test_a_target_that_does_not_start_is_an_error_but_not_a_fault(self):
        with mock.patch.object(verb, "write_seeds", return_value=["broken"]):
            with self.assertRaisesRegex(LabError, "broken ended with exit code 2, see .*\\.log"):
                self.fuzz()

    def test_an_unknown_target_is_named(self):
        with self.assertRaisesRegex(LabError, "no target 'gif'; the targets: idx, png, store"):
            self.fuzz("gif")

    def test_the_names_can_be_listed(self):
        self.assertEqual(self.fuzz("--list"), (0, "idx\npng\nstore\n"))

    def test_minutes_are_shared_by_all_targets_on_all_cores(self):
        for words, targets, cores, seconds in (
                (["--minutes", "30"], 30, 2, 120), (["--minutes", "1"], 1, 8, 60),
                (["--seconds", "5"], 30, 2, 5), ([], 3, 2, verb.SECONDS)):
            parser = ArgumentParser()
            verb.add_arguments(parser)
            options = parser.parse_args(words)
            self.assertEqual(verb.seconds_each(options, targets, cores), seconds, words)

    def test_the_time_limit_is_passed_to_each_target(self):
        self.fuzz("idx", "--seconds", "3")
        self.assertIn("for 3 s", (self.root / "logs" / "idx.log").read_text())


class Replay(FuzzTest):
    def test_an_input_runs_again_on_the_target_in_its_name_or_folder(self):
        self.fuzz("idx", "--seconds", "1")
        crash = self.root / "png-crash-0123-small"
        crash.write_text("x")
        for file, code, said in ((crash, 1, "png: a fault, see above"),
                                 (self.root / "corpus" / "idx" / "seed-0", 0, "idx: no fault")):
            got, out = self.fuzz("--replay", str(file))
            self.assertEqual(got, code)
            self.assertIn(said, out)

    def test_a_file_that_is_missing_is_named(self):
        with self.assertRaisesRegex(LabError, "none: there is no such file"):
            self.fuzz("--replay", "none")


class Clang(unittest.TestCase):
    def test_it_is_installed_when_it_is_asked_for(self):
        def is_present(package):
            return package not in packages.CLANG_PACKAGES

        out = io.StringIO()
        for wanted, installed in ((False, []), (True, [mock.call(["clang", "libclang-rt-dev"])])):
            with mock.patch.object(packages, "is_present", is_present), \
                    mock.patch.object(packages, "missing_python", return_value=[]), \
                    mock.patch.object(setup, "apt_install") as apt, contextlib.redirect_stdout(out):
                setup.install_missing(clang=wanted)
            self.assertEqual(apt.call_args_list, installed)
        self.assertIn("libclang-rt-dev      libFuzzer and clang's sanitizers", out.getvalue())

    def test_the_runtime_of_any_version_of_clang_is_found(self):
        runtime = next(package for package in packages.CLANG_PACKAGES
                       if package.name == "libclang-rt-dev")
        with tempfile.TemporaryDirectory() as folder:
            pattern = packages.Package("rt", "", files=(folder + runtime.files[0],))
            self.assertFalse(packages.is_present(pattern))
            library = Path(folder + "/usr/lib/llvm-19/lib/clang/19/lib/linux")
            os.makedirs(library)
            (library / "libclang_rt.fuzzer-x86_64.a").touch()
            self.assertTrue(packages.is_present(pattern))


if __name__ == "__main__":
    unittest.main()
