"""Student code that cheats does not pass, and costs no other task (cheats.cpp).

As root, the cases run as the user daemon, as `grade --user daemon` runs them. As another user they
run as this user; then the cheat that ends its parent is left out, because nothing prevents it.
"""

import os
import pwd
import shutil
import stat
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from lab_tool.checking import check_tasks
from lab_tool.confine import Confinement
from lab_tool.runner import KEPT, MEMORY_MIB, Limits, case_environment
from lab_tool.verbs import grade
from lab_tool.verdict import FAILED, PASSED

PROGRAM = Path(os.environ["MINI_BIN_DIR"]) / "lab_cheats"
USER = "daemon" if os.geteuid() == 0 else ""
HONEST, KILLS_ITS_PARENT, REPLACES, FORKS = "98.1", "98.4", "98.6", "98.11"
CHEATS = [f"98.{number}" for number in range(2, 18)]
FEW = 48  # processes, so that the endless fork is not a burden


class Cheats(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="cheats-"))
        self.folder.chmod(0o755)
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.program = self.folder / "lab98_check"
        shutil.copy(PROGRAM, self.program)

    def results(self, *tasks, seconds=60.0, processes=0):
        limits = Limits(seconds=seconds, stacks=False, confinement=Confinement(USER, processes))
        return {result.task: result
                for result in check_tasks("98", list(tasks), self.program, limits)}

    def test_no_cheat_passes_and_the_honest_task_does(self):
        slow = {FORKS, "98.16"}
        left_out = slow | {REPLACES} | (set() if USER else {KILLS_ITS_PARENT})
        results = self.results(*[task for task in CHEATS if task not in left_out], HONEST)
        Confinement(USER).end_processes()
        self.assertEqual(results.pop(HONEST).status, PASSED)
        for task, result in results.items():
            self.assertEqual(result.status, FAILED, f"{task}: {result}")
            self.assertTrue(result.reason, task)

    def test_endless_loops_and_forks_end_at_the_deadline(self):
        results = self.results(FORKS, "98.16", seconds=3.0,
                               processes=FEW if USER else number_of_processes() + FEW)
        Confinement(USER).end_processes()
        for result in results.values():
            self.assertEqual(result.status, FAILED)
        self.assertEqual(self.results(HONEST)[HONEST].status, PASSED)

    @unittest.skipUnless(USER, "needs root")
    def test_a_process_of_another_user_that_leaves_its_group_ends_with_the_lab(self):
        before = number_of_processes(USER)
        self.results("98.5")
        self.assertGreater(number_of_processes(USER), before)
        Confinement(USER).end_processes()
        deadline = time.monotonic() + 60
        while number_of_processes(USER) > before and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertLessEqual(number_of_processes(USER), before)

    @unittest.skipUnless(USER, "needs root")
    def test_another_user_cannot_replace_the_program(self):
        before = self.program.stat()
        self.assertEqual(self.results(REPLACES)[REPLACES].status, FAILED)
        self.assertEqual(self.program.stat(), before)
        self.assertEqual(self.results(HONEST)[HONEST].status, PASSED)

    def test_the_output_that_is_kept_is_small(self):
        verdict = self.results("98.10")["98.10"].verdicts[0]
        self.assertIn("wrote more than", verdict.reason)
        self.assertLess(sum(map(len, verdict.story)), KEPT)

    def test_a_case_that_a_sanitizer_ends_tells_its_messages(self):
        with mock.patch("lab_tool.checking.case_environment", few_megabytes):
            results = self.results("98.18", "98.19")
        outside, memory = (results[task] for task in ("98.18", "98.19"))
        self.assertIn("heap-buffer-overflow", outside.reason)
        self.assertEqual(outside.verdicts[0].story[0], "3 numbers, and the index is 3")
        self.assertEqual(memory.reason, "used more memory than a case may have")
        self.assertEqual(memory.verdicts[0].story, ["2^40 paths, 80 edges"])

    def test_another_user_cannot_write_to_the_grades(self):
        if not USER:
            self.skipTest("needs root")
        grades = self.folder / "grades.json"
        grade.replace_file(grades, "{}")
        self.assertEqual(grades.stat().st_uid, 0)
        self.assertFalse(grades.stat().st_mode & stat.S_IWOTH)


def few_megabytes(**more):
    env = case_environment(**more)
    env["ASAN_OPTIONS"] = env["ASAN_OPTIONS"].replace(f"mb={MEMORY_MIB}", "mb=300")
    return env


def number_of_processes(user=""):
    """Returns the number of the threads of a user, by default this one, which count for the limit."""
    found, uid = 0, pwd.getpwnam(user).pw_uid if user else os.getuid()
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        except OSError:
            continue
        if "Z" not in fields["State"] and fields["Uid"].split()[0] == str(uid):
            found += int(fields["Threads"])
    return found
