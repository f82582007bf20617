"""labs/lab bench: the decision whether other processes disturb a measurement, the rounds and their
statistics. Readings are made up: no test depends on a time."""

import os
import unittest
from pathlib import Path

from bench import quiet, rounds
from bench.made_up import BUSY, QUIET, FakeMachine, Script, case
from bench.quiet import Noise, Reading


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


if __name__ == "__main__":
    unittest.main()
