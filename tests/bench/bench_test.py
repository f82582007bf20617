"""labs/lab bench: contenders, the choice of cases, and one quick run without PyTorch."""

import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from lab_tool.screen import LabError
from lab_tool.verbs import bench as verb

from bench import peers, report, sections, session
from bench.made_up import FakeMachine, Script, case, result, results
from bench.workers import Worker

ROOT = Path(__file__).resolve().parents[2]


class Sessions(unittest.TestCase):
    def test_all_started_contenders_are_stopped_after_a_failure(self):
        first, second, third = Script(1), Script(), Script()
        second.start = mock.Mock(side_effect=LabError("no"))
        with self.assertRaises(LabError), contextlib.redirect_stdout(io.StringIO()):
            session.measure_case(case(A=first, B=second, C=third), 1, FakeMachine(), "")
        self.assertEqual((first.log, second.log, third.log), (["start", "stop"], ["stop"], []))

    def test_models_with_different_parameters_are_refused(self):
        one, other = Script(), Script()
        one.answer, other.answer = {"parameters": 21_840}, {"parameters": 21_850}
        with self.assertRaisesRegex(LabError, r"21,840 \(libmini\), 21,850 \(PyTorch\)"):
            session.check_parameters(case(libmini=one, PyTorch=other))

    def test_a_worker_that_dies_is_named_with_its_message(self):
        worker = Worker([sys.executable, "-c", "print(1 / 0)"], "ms", 1)
        self.addCleanup(worker.stop)
        with self.assertRaisesRegex(LabError, "exit code 1\n(.*\n)* +. ZeroDivisionError"):
            worker.start()

    def test_keep_replaces_only_what_was_measured(self):
        earlier = results(result("batch 64", 1.0), result("batch 128", 2.0))
        later = results(result("batch 64", 5.0))
        found = session.kept(earlier, later)["cases"]
        self.assertEqual([(r["case"], r["contenders"]["libmini"]["median"]) for r in found],
                         [("batch 64", 5.0), ("batch 128", 2.0)])


    def test_results_of_another_commit_or_of_a_quick_run_are_not_kept(self):
        earlier, now = results(), results()
        session.check_same(earlier, now, quick=False)
        with self.assertRaisesRegex(LabError, "quick run"):
            session.check_same(earlier, now, quick=True)
        now["machine"]["commit"] = "def"
        with self.assertRaisesRegex(LabError, "of commit abc, this is def"):
            session.check_same(earlier, now, quick=False)


class Choice(unittest.TestCase):
    def plan(self, torch=True, is_quick=False):
        facts = {"version": "2.15.0", "gloo": True, "torchvision": True, "cpu": "AVX2"}
        present = peers.Peers("python", facts if torch else None, compiles=torch, gloo=torch)
        return sections.Plan(Path("/bin"), present, "", is_quick, cores=2)

    def names(self, *words, **how):
        return [case.full_name() for case in sections.cases_of(self.plan(**how), words)]

    def test_a_word_selects_sections_or_cases(self):
        self.assertEqual(self.names("step"), [f"step/batch {batch} on {threads}" for batch in (64, 128)
                                              for threads in ("1 thread", "2 threads")])
        self.assertEqual(self.names("step/batch 64 on 1", "epoch/DDP"),
                         ["step/batch 64 on 1 thread", "epoch/DDP"])
        self.assertEqual(self.names("profile"), [])
        self.assertFalse(sections.is_wanted("step/batch 64", ["batch 64"]))
        self.assertEqual({name.split("/")[0] for name in self.names()}, set(sections.CASES))

    def test_a_word_that_selects_nothing_is_refused(self):
        with self.assertRaisesRegex(LabError, "step/batch 65: .* step/batch 64 on 1 thread, "):
            self.names("step/batch 65", "epoch")
        with self.assertRaisesRegex(LabError, "profile/batch 64, profile/batch 128"):
            self.names("profile/batch 1000")
        self.assertEqual(sections.profile_batches(self.plan(), ["profile"]), [64, 128])
        self.assertEqual(sections.profile_batches(self.plan(), ["profile/batch 128"]), [128])
        self.assertEqual(sections.profile_batches(self.plan(), ["step"]), [])

    def test_no_name_has_a_comma(self):
        self.assertEqual([name for name in self.names() if "," in name], [])

    def test_without_peers_libmini_is_measured_alone(self):
        for found in sections.cases_of(self.plan(torch=False), []):
            names = set(found.contenders)
            self.assertFalse(names & {"PyTorch", "torch.compile", "Gloo", "PyTorch's gloo"}, names)
            self.assertTrue(names)

    def test_absent_peers_are_named_with_the_way_to_get_them(self):
        notes = " ".join(peers.Peers("py").notes())
        self.assertIn("pip install torch", notes)
        self.assertIn("libgloo-dev", notes)
        self.assertEqual(self.plan().peers.notes(), [])

    def test_unknown_sections_are_refused(self):
        with self.assertRaisesRegex(LabError, "the sections: step, epoch"):
            verb.check_words(["speed"])


class Advice(unittest.TestCase):
    def say(self, *cases, words=()):
        parser = argparse.ArgumentParser()
        verb.add_arguments(parser)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = verb.say_validity(results(*cases), parser.parse_args(words))
        return code, out.getvalue()

    def test_valid_results_have_exit_code_0(self):
        code, text = self.say(result("batch 64", 1.0))
        self.assertEqual((code, text), (0, "all results are valid\n"))

    def test_a_busy_machine_has_its_own_exit_code_and_the_command_to_run_again(self):
        code, text = self.say(result("batch 64", 1.0, valid=False), result("batch 128", 1.0),
                              words=["--python", "/a b/python", "--only", "step"])
        self.assertEqual(code, 3)
        self.assertIn("step/batch 64: other processes used 1.40 cores, most of it cc1plus", text)
        self.assertIn("stop the other work on this machine", text)
        self.assertIn("labs/lab bench --keep --only 'step/batch 64' --python '/a b/python'\n", text)


@unittest.skipUnless(os.environ.get("MINI_BIN_DIR"), "MINI_BIN_DIR is not set")
class QuickRun(unittest.TestCase):
    def test_a_quick_run_without_pytorch_measures_all_sections(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        folder = Path(temporary.name)
        # A Python without packages: PyTorch is absent in it.
        python = folder / "python"
        python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n')
        python.chmod(0o755)
        done = subprocess.run(
            [ROOT / "labs/lab", "bench", "--quick", "--rounds", "1", "--patience", "0", "--bin",
             os.environ["MINI_BIN_DIR"], "--python", python, "--out", folder / "out"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

        # Other tests run at the same time, so that the results may be invalid.
        self.assertIn(done.returncode, (0, verb.NOT_VALID_EXIT), done.stdout)
        found = json.loads((folder / "out/results.json").read_text())
        self.assertEqual(done.returncode == 0, not report.invalid(found), done.stdout)
        self.assertEqual("NOT VALID" in done.stdout, bool(report.invalid(found)))
        self.assertIsNone(found["peers"]["torch"])
        self.assertIn("pip install torch", done.stdout)
        self.assertEqual({each["section"] for each in found["cases"]}, set(sections.CASES))
        for each in found["cases"]:
            self.assertTrue(all(value["low"] > 0 for value in each["contenders"].values()), each)
        profile = found["profiles"][0]
        self.assertNotIn("different losses", profile["why_not"])
        self.assertEqual([row["part"] for row in profile["rows"]][2:5],
                         ["conv1", "max_pool1", "relu1"])
        self.assertIn("quick run, not a measurement", (folder / "out/report.md").read_text())


if __name__ == "__main__":
    unittest.main()
