"""labs/lab bench: statistics, the decision whether a machine is busy, the report, and one quick run
without PyTorch. Readings and contenders are made up: no test depends on a time."""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]

from lab_tool.screen import LabError
from lab_tool.verbs import bench as verb

from bench import bars, peers, quiet, report, rounds, sections, session, step_profile
from bench.quiet import Noise, Reading
from bench.workers import Worker

QUIET = Noise(1.0, 0.01)
BUSY = Noise(1.0, 1.4, "cc1plus")


class Script:
    """A contender that returns given values."""

    def __init__(self, *values):
        self.values, self.log = list(values), []

    def start(self):
        self.log.append("start")

    def measure(self):
        self.log.append("measure")
        return self.values.pop(0)

    def stop(self):
        self.log.append("stop")


class FakeMachine:
    """A machine with given noises: one per measurement."""

    def __init__(self, *noises):
        self.noises = list(noises)

    def wait_until_quiet(self):
        return QUIET

    def watch(self, work):
        return work(), self.noises.pop(0) if self.noises else QUIET


def case(**contenders):
    return rounds.Case("step", "batch 64", "ms", contenders)


class Decision(unittest.TestCase):
    def test_the_noise_is_the_time_of_others_per_second(self):
        before = Reading(10.0, busy=100.0, own=40.0, others={1: ("init", 5.0), 2: ("cc1plus", 7.0)})
        after = Reading(12.0, busy=104.0, own=41.0, others={1: ("init", 5.1), 2: ("cc1plus", 9.9)})
        noise = quiet.between(before, after)
        self.assertAlmostEqual(noise.cores, 1.5)
        self.assertEqual(noise.culprit, "cc1plus")
        self.assertFalse(noise.is_quiet())
        self.assertEqual(str(noise), "other processes used 1.50 cores, most of it cc1plus")

    def test_a_process_that_began_meanwhile_counts(self):
        noise = quiet.between(Reading(0.0, 0.0, 0.0), Reading(1.0, 0.8, 0.0, {9: ("ninja", 0.8)}))
        self.assertEqual(noise.culprit, "ninja")

    def test_own_processes_do_not_disturb(self):
        noise = quiet.between(Reading(0.0, 50.0, 20.0), Reading(2.0, 54.0, 24.0))
        self.assertEqual(noise.cores, 0.0)
        self.assertTrue(noise.is_quiet())

    def test_the_limit_is_a_twentieth_of_a_core_and_three_ticks(self):
        for seconds, foreign, expected in ((10.0, 0.52, True), (10.0, 0.54, False),
                                           (0.1, 0.034, True), (0.1, 0.036, False)):
            with self.subTest(seconds=seconds, foreign=foreign):
                self.assertEqual(Noise(seconds, foreign / seconds).is_quiet(), expected)

    def test_ticks_counted_twice_give_no_negative_noise(self):
        self.assertEqual(quiet.between(Reading(0.0, 5.0, 5.0), Reading(1.0, 5.9, 6.0)).cores, 0.0)

    def test_without_proc_no_measurement_is_quiet(self):
        self.assertFalse(quiet.between(None, None).is_quiet())
        machine = quiet.Machine(60, reader=lambda: None, sleep=lambda seconds: None)
        self.assertFalse(machine.wait_until_quiet().is_quiet())  # and it does not wait

    def test_stolen_time_is_busy_and_waiting_for_a_disk_is_not(self):
        line = "cpu  100 10 50 7000 900 3 2 35 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n"
        self.assertAlmostEqual(quiet.busy_seconds(line, 100), 2.0)

    def test_a_name_of_a_process_may_contain_parentheses(self):
        text = "7 (tmux: (a) b) S 3 7 7 0 -1 0 0 0 0 0 150 50 20 30 20 0 1 0 5 0 0"
        self.assertEqual(quiet.process_times(text, 100), ("tmux: (a) b", 3, 2.0, 0.5))

    def test_the_family_has_all_descendants(self):
        parents = {1: 0, 5: 1, 6: 5, 7: 6, 8: 1}
        self.assertEqual(quiet.family(parents, 5), {5, 6, 7})

    def test_a_reading_of_this_machine_grows(self):
        if not Path("/proc/stat").exists():
            self.skipTest("this system has no /proc/stat")
        before = quiet.read()
        sum(range(300_000))
        after = quiet.read()
        self.assertGreaterEqual(after.own, before.own)
        self.assertGreaterEqual(after.busy, before.busy)
        self.assertNotIn(os.getpid(), after.others)


class Waiting(unittest.TestCase):
    def machine(self, patience, *cores):
        """A machine on which others use cores[i] at the i-th look, then none."""
        now, busy, looks = [0.0], [0.0], list(cores)

        def sleep(seconds):
            now[0] += seconds
            busy[0] += seconds * (looks.pop(0) if looks else 0.0)

        machine = quiet.Machine(patience, lambda: Reading(now[0], busy[0], 0.0), sleep)
        return machine, now

    def test_it_waits_until_the_machine_is_quiet(self):
        machine, now = self.machine(60, 2.0, 1.0, 0.0)
        self.assertTrue(machine.wait_until_quiet().is_quiet())
        self.assertAlmostEqual(now[0], 3 * quiet.PROBE)

    def test_the_patience_is_used_up_once(self):
        machine, now = self.machine(2 * quiet.PROBE, *[1.0] * 100)
        self.assertFalse(machine.wait_until_quiet().is_quiet())
        self.assertAlmostEqual(now[0], 3 * quiet.PROBE)
        machine.wait_until_quiet()
        self.assertAlmostEqual(now[0], 4 * quiet.PROBE)


class Rounds(unittest.TestCase):
    def test_contenders_are_measured_in_turn(self):
        order = []
        contenders = {name: Script(1, 2, 3) for name in "AB"}
        for name, contender in contenders.items():
            contender.measure = lambda name=name: order.append(name) or 1.0
        rounds.run_rounds(case(**contenders), 3, FakeMachine())
        self.assertEqual("".join(order), "ABABAB")

    def test_a_disturbed_round_is_repeated_and_left_out(self):
        outcome = rounds.run_rounds(case(A=Script(1, 9, 2), B=Script(10, 90, 20)), 2,
                                    FakeMachine(QUIET, QUIET, QUIET, BUSY))
        self.assertTrue(outcome.is_valid())
        found = rounds.figures(outcome)
        self.assertEqual(found["contenders"]["A"], {"median": 1.5, "low": 1, "high": 2})
        self.assertEqual(found["disturbed_rounds"], [{"A": 9, "B": 90}])

    def test_too_many_disturbed_rounds_are_not_valid(self):
        outcome = rounds.run_rounds(case(A=Script(1, 2, 3), B=Script(4, 5, 6)), 2,
                                    FakeMachine(BUSY, QUIET, QUIET, QUIET, QUIET, BUSY))
        found = rounds.figures(outcome)
        self.assertFalse(found["valid"])
        self.assertIn("1.40 cores, most of it cc1plus", found["why_not"])
        self.assertEqual(found["contenders"]["A"]["high"], 3)  # shown, and marked

    def test_a_machine_that_is_busy_before_a_round_disturbs_it(self):
        machine = FakeMachine()
        machine.wait_until_quiet = lambda: BUSY
        self.assertFalse(rounds.run_rounds(case(A=Script(1), B=Script(2)), 1, machine).is_valid())

    def test_a_ratio_is_taken_within_a_round(self):
        # The machine is twice as slow in the second round, which affects both alike.
        outcome = rounds.run_rounds(case(A=Script(1, 2, 1), B=Script(3, 6, 3.3)), 3, FakeMachine())
        ratio = rounds.figures(outcome)["ratios"][0]
        self.assertEqual((ratio["of"], ratio["to"]), ("B", "A"))
        self.assertAlmostEqual(ratio["median"], 3.0)
        self.assertAlmostEqual(ratio["high"], 3.3)

    def test_ratios_of_absent_peers_are_left_out(self):
        some = rounds.Case("all-reduce", "x", "us", {"TCP": 1, "one copy": 1},
                           [("Gloo", "TCP"), ("TCP", "one copy")])
        self.assertEqual(some.wanted_ratios(), [("TCP", "one copy")])


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

    def test_a_worker_that_dies_is_named(self):
        worker = Worker([sys.executable, "-c", "raise SystemExit(3)"], "ms", 1)
        self.addCleanup(worker.stop)
        with self.assertRaisesRegex(LabError, "ended with exit code 3"):
            worker.start()

    def test_keep_replaces_only_what_was_measured(self):
        earlier = results(result("batch 64", 1.0), result("batch 128", 2.0))
        later = results(result("batch 64", 5.0))
        found = session.kept(earlier, later)["cases"]
        self.assertEqual([(r["case"], r["contenders"]["libmini"]["median"]) for r in found],
                         [("batch 64", 5.0), ("batch 128", 2.0)])


def figure(median):
    return {"median": median, "low": median * 0.9, "high": median * 1.1}


def result(name, median, valid=True, section="step"):
    return {"section": section, "case": name, "unit": "ms", "valid": valid,
            "why_not": "" if valid else str(BUSY),
            "contenders": {"libmini": figure(median), "PyTorch": figure(2.5 * median)},
            "ratios": [{"of": "PyTorch", "to": "libmini", **figure(2.5)}],
            "rounds": [], "disturbed_rounds": []}


def answer(**changes):
    """A profile of bench_worker with three parts."""
    def part(name, direction, us, flops_us, bytes_us):
        return {"name": name, "direction": direction, "us": us, "flops": 1.0, "bytes": 1.0,
                "flops_us": flops_us, "bytes_us": bytes_us}

    parts = [part("conv1", "forward", 30.0, 20.0, 5.0), part("conv1", "backward", 60.0, 10.0, 25.0),
             part("optimizer", "", 8.0, 0.0, 4.0), part("rest", "", 2.0, 0.0, 0.0)]
    return {"batch": 64, "step_us": 99.0, "peak_gflops": 100.0, "same_loss": True, "parts": parts,
            **changes}


def results(*cases, profiles=()):
    return {"date": "2026-11-25", "quick": False, "rounds": 7, "load": [0.1, 1.2],
            "machine": {"cpu": "A CPU", "vectors": "AVX2", "cores": 2, "system": "Linux",
                        "commit": "abc", "peak_gflops": {"1": 100.0, "2": 200.0}},
            "peers": {"torch": {"version": "2.15.0", "cpu": "AVX2", "gloo": True}},
            "notes": ["Gloo is absent"], "cases": list(cases), "profiles": list(profiles)}


class Profiles(unittest.TestCase):
    def test_a_row_has_both_directions_and_the_higher_floor_of_each(self):
        conv = step_profile.table(answer())[0]
        self.assertEqual((conv["forward_us"], conv["backward_us"], conv["us"]), (30.0, 60.0, 90.0))
        self.assertEqual(conv["floor_us"], 20.0 + 25.0)
        self.assertEqual(conv["over_floor"], 2.0)

    def test_the_named_parts_are_all_but_the_rest(self):
        found = step_profile.figures(answer(), QUIET)
        self.assertAlmostEqual(found["accounted"], 0.98)
        self.assertTrue(found["valid"], found["why_not"])

    def test_a_profile_is_not_valid_for_each_of_its_reasons(self):
        large_rest = answer()
        large_rest["parts"][-1]["us"] = 20.0
        large_rest["step_us"] = 118.0
        for reason, changed, noise in (("different losses", answer(same_loss=False), QUIET),
                                       ("1.40 cores", answer(), BUSY),
                                       ("only 83%", large_rest, QUIET),
                                       ("without them", answer(step_us=80.0), QUIET)):
            with self.subTest(reason):
                found = step_profile.figures(changed, noise)
                self.assertIn(reason, found["why_not"])
                self.assertFalse(found["valid"])


class Reports(unittest.TestCase):
    def test_numbers_have_three_significant_digits(self):
        for value, text in ((0, "0"), (0.01234, "0.0123"), (1.234, "1.23"), (12.34, "12.3"),
                            (99.96, "100"), (123.4, "123"), (1234.5, "1,234")):
            self.assertEqual(report.number(value), text)

    def test_the_table_has_medians_spreads_and_ratios(self):
        text = report.markdown(results(result("batch 64", 2.0)))
        self.assertIn("| case | libmini | PyTorch | PyTorch / libmini |", text)
        self.assertIn("| batch 64, ms | 2.00 (1.80 to 2.20) | 5.00 (4.50 to 5.50) "
                      "| 2.50 (2.25 to 2.75) |", text)
        self.assertIn("100 GFLOP/s on 1, 200 GFLOP/s on 2", text)
        self.assertIn("- Gloo is absent", text)

    def test_cases_with_other_contenders_have_their_own_table(self):
        alone = result("batch 128", 1.0)
        del alone["contenders"]["PyTorch"]
        alone["ratios"] = []
        text = report.markdown(results(result("batch 64", 2.0), alone))
        self.assertIn("| case | libmini |\n", text)

    def test_what_is_not_valid_is_marked_with_its_reason(self):
        found = results(result("batch 64", 2.0, valid=False),
                        profiles=[step_profile.figures(answer(), BUSY)])
        text = report.markdown(found)
        self.assertIn("| batch 64, ms (not valid) |", text)
        self.assertIn("Not valid: batch 64: other processes used 1.40 cores", text)
        self.assertEqual([name for name, _ in report.invalid(found)],
                         ["step/batch 64", "profile/batch 64"])

    def test_the_profile_is_a_table_of_parts(self):
        text = report.markdown(results(profiles=[step_profile.figures(answer(), QUIET)]))
        self.assertIn("the named parts are 98.0% of it", text)
        self.assertIn("| conv1 | 30 | 60 | 90.0% | 45.0 | 2.0 |", text)

    def test_a_chart_is_svg_with_a_bar_per_peer(self):
        drawn = bars.svg("A < B", bars.groups_of([result("batch 64", 2.0),
                                                  result("batch 128", 3.0)]))
        root = xml.etree.ElementTree.fromstring(drawn)
        rectangles = [r for r in root.iter() if r.tag.endswith("rect")]
        self.assertEqual(len(rectangles), 2 + 1)  # two bars, one in the legend
        self.assertIn("2.50", [t.text for t in root.iter() if t.tag.endswith("text")])

    def test_a_chart_shows_no_cost_of_communication(self):
        cost = result("DDP", 1.0)
        cost["ratios"].append({"of": "libmini", "to": "libmini alone", **figure(1.1)})
        self.assertEqual(list(bars.groups_of([cost])[0][1]), ["PyTorch"])

    def test_a_peer_that_is_faster_has_a_bar_to_the_left_of_one(self):
        axis = bars.RatioAxis([0.5, 2.0])
        self.assertLess(axis.at(0.5), axis.at(1))


class Choice(unittest.TestCase):
    def plan(self, torch=True, is_quick=False):
        facts = {"version": "2.15.0", "gloo": True, "cpu": "AVX2"} if torch else None
        present = peers.Peers("python", facts, compiles=torch, gloo=torch)
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
