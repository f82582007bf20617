"""Lab 00's programs: compiled as their first lines say, and run as the page says."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "labs" / "00-the-whole-idea"
MNIST = Path(os.environ.get("MINI_DATA_DIR", "")) / "mnist"
CHANGES = {  # the changes of the page; a run makes the one that the variable WRONG names
    "// ---- 1.": 'bool wrong(const std::string& what) { return what == std::getenv("WRONG"); }\n// 1.',
    "network.gradients /= ring.P": 'if (!wrong("sum")) network.gradients /= ring.P',
    "for (const Bucket& bucket : buckets) {":
        'auto order = buckets; if (wrong("order") && ring.rank == 1) std::ranges::reverse(order);'
        "for (const Bucket& bucket : order) {",
    "std::mt19937(epoch)": 'std::mt19937(wrong("seed") ? epoch + 100 * rank : epoch)',
    "{in.empty() ? -1": '{in.empty() || (wrong("send") && !out.empty()) ? -1',
    "got = recv": 'got = wrong("send") && !out.empty() ? 0 : recv',
}
ANSWERS = {2: "acb 30", 5: "bca!", 7: "37 37", 8: "5 1", 9: "a rank of 4 shuffles",
           10: "integer integer float"}
REPAIRS = {f'kAnswer{number} = ""': f'kAnswer{number} = "{text}"' for number, text in ANSWERS.items()} | {
    "(rank - 1) % P": "(rank + P - 1) % P",
    "const std::span<float> before(numbers);": "const size_t count = numbers.size();",
    "std::ranges::fill(before, 0.0f);": "std::fill_n(numbers.begin(), count, 0.0f);",
    "std::string_view value_of(": "std::string value_of(",
    "return text.substr(": "return option.substr(",
    "    ~File() {": "    File(File&& old) : number(std::exchange(old.number, -1)) {}\n    ~File() {",
    "int count = 0;": "std::atomic<int> count = 0;",
    "const int before = count;": "++count;",
    "count = before + 1;": "",
    "changed.wait(lock);": "changed.wait(lock, [this] { return is_set; });",
}


def replaced(text, changes):
    for old, new in changes.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


class MiniDdpTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """Compiles the program, which can make the changes, with the command of its head."""
        cls.place = tempfile.TemporaryDirectory()
        cls.program = Path(cls.place.name) / "mini_ddp"
        text = replaced((FOLDER / "mini_ddp.cpp").read_text(encoding="utf-8"), CHANGES)
        cls.program.with_suffix(".cpp").write_text(text, encoding="utf-8")
        command = re.search(r"g\+\+ .*-o mini_ddp", text)[0]
        built = subprocess.run(command.split(), cwd=cls.place.name, capture_output=True, text=True)
        assert (built.returncode, built.stderr) == (0, ""), built.stderr  # no warning

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def start(self, *options, wrong=""):
        return subprocess.Popen([self.program, *options], cwd=self.place.name, text=True,
                                env={**os.environ, "WRONG": wrong},
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run_ranks(self, ranks, *options, wrong=""):
        """Returns the losses of the epochs, the last accuracy, and the ranks' checksums."""
        job = self.start(f"ranks={ranks}", *options, wrong=wrong)
        out, err = job.communicate(timeout=100)
        self.assertEqual((job.returncode, err), (0, ""))
        sums = dict(re.findall(r"^rank (\d+): checksum (\w+)", out, re.MULTILINE))
        self.assertEqual(set(sums), {str(rank) for rank in range(ranks)})
        return ([float(loss) for loss in re.findall(r"loss (\S+)", out)],
                float(re.findall(r"accuracy (\S+)", out)[-1]), set(sums.values()))

    def test_ranks_end_with_the_same_network_and_losses_hardly_depend_on_their_number(self):
        alone, _, _ = self.run_ranks(1, "epochs=2")
        for ranks in (2, 3, 4, 7):
            losses, accuracy, sums = self.run_ranks(ranks, "epochs=2")
            self.assertEqual(len(sums), 1, ranks)
            self.assertGreater(accuracy, 95, ranks)
            for one, many in zip(alone, losses):
                self.assertLess(abs(one - many), 0.2, ranks)

    def test_a_sum_is_a_learning_rate_times_the_number_of_ranks(self):
        for ranks in (4, 7):  # the program that another compiler makes may learn with 2
            losses, _, sums = self.run_ranks(ranks, "epochs=2", wrong="sum")
            self.assertEqual(len(sums), 1)
            self.assertGreater(losses[1], 0.1, ranks)
        self.assertEqual(self.run_ranks(4, "epochs=1", "lr=0.01", wrong="sum"),
                         self.run_ranks(4, "epochs=1"))

    def test_another_order_of_buckets_gives_other_weights_on_each_rank_and_another_shuffle_none(self):
        for ranks in (2, 3):
            losses, _, sums = self.run_ranks(ranks, "epochs=2", wrong="order")
            self.assertEqual(len(sums), ranks)
            self.assertGreater(losses[1], 0.3, ranks)
            _, accuracy, sums = self.run_ranks(ranks, "epochs=2", wrong="seed")
            self.assertEqual(len(sums), 1)
            self.assertGreater(accuracy, 95)

    def test_to_send_first_hangs_unless_chunks_are_small(self):
        self.assertEqual(self.run_ranks(6, "epochs=1", wrong="send"), self.run_ranks(6, "epochs=1"))
        jobs = [self.start(f"ranks={ranks}", wrong="send") for ranks in (2, 3)]
        for job in jobs:
            self.assertIn("has waited too long for rank", job.communicate(timeout=60)[1])
            self.assertEqual(job.returncode, 1)

    def test_a_run_can_be_repeated_with_and_without_overlap(self):
        first = self.run_ranks(3, "epochs=1")
        self.assertEqual(self.run_ranks(3, "epochs=1"), first)
        self.assertEqual(self.run_ranks(3, "epochs=1", "overlap=0", "link=2000"), first)

    def stop_last(self, how):
        """Starts three ranks, sends the last one a signal, and returns what the job printed."""
        job = self.start("ranks=3", "epochs=100000")
        children = Path(f"/proc/{job.pid}/task/{job.pid}/children")
        while len(children.read_text(encoding="ascii").split()) < 3:
            time.sleep(0.01)
        last = int(children.read_text(encoding="ascii").split()[-1])
        os.kill(last, how)
        _, err = job.communicate(timeout=60)
        self.assertEqual(job.returncode, 1)
        return last, err

    def test_a_killed_rank_is_named(self):
        last, err = self.stop_last(signal.SIGKILL)
        self.assertEqual(err, f"rank 2 (process {last}): Killed; all ranks end\n")

    def test_a_stopped_rank_ends_the_job(self):
        _, err = self.stop_last(signal.SIGSTOP)
        self.assertRegex(err, r"rank \d has waited too long for rank \d\n")

    def test_unknown_options_are_errors(self):
        for word in ("rank=2", "ranks", "ranks=0", "ranks=257", "lr=high"):
            job = self.start(word)
            job.communicate(timeout=60)
            self.assertEqual(job.returncode, 1, word)

    @unittest.skipUnless(MNIST.is_dir(), "MINI_DATA_DIR has no mnist")
    def test_mnist(self):
        (Path(self.place.name) / "mnist").symlink_to(MNIST.resolve())
        try:
            _, accuracy, _ = self.run_ranks(2, "epochs=2")
        finally:
            (Path(self.place.name) / "mnist").unlink()
        self.assertGreater(accuracy, 95)


class LabTest(unittest.TestCase):
    def test_start_copies_the_programs_and_check_judges_them(self):
        with tempfile.TemporaryDirectory() as place:
            labs, work = Path(place) / "labs", Path(place) / "work" / FOLDER.name
            shutil.copytree(FOLDER, labs / FOLDER.name)
            shutil.copytree(ROOT / "labs" / "lab_tool", labs / "lab_tool")

            def lab(*words):
                ended = subprocess.run([sys.executable, labs / "lab_tool", *words], text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                return ended.returncode, ended.stdout

            def write_training(*lines):
                text = "\n".join(["#!/bin/sh", *(f"echo {line}" for line in lines)])
                (work / "mini_ddp").write_text(text, encoding="utf-8")
                (work / "mini_ddp").chmod(0o755)

            def write_pieces(changes):
                text = replaced((FOLDER / "self_test.cpp").read_text(encoding="utf-8"), changes)
                (work / "self_test.cpp").write_text(text, encoding="utf-8")
                os.utime(work / "self_test.cpp", (time.time() + 9, time.time() + 9))

            self.assertRegex(lab("check", "0")[1], "self_test.cpp is missing; run: labs/lab start 0")
            self.assertEqual(lab("start", "0")[0], 0)
            self.assertIn("The whole idea (labs/lab check 00)\n", lab("next")[1])
            self.assertIn("nothing to reset", lab("reset", "0")[1])
            write_training("loss 0.01", "rank 0: checksum ab", "rank 1: checksum ab")
            code, out = lab("check")
            self.assertEqual(code, 1, out)
            self.assertIn("not tried yet: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12; next: piece 1 ", out)
            self.assertEqual(re.findall(r"^ ?\d+ (?:open|wrong|right).*", out, re.M), [])
            self.assertIn("  started\n", lab("status")[1])

            write_pieces({'kAnswer2 = ""': 'kAnswer2 = "abc"', 'kAnswer10 = ""': 'kAnswer10 = "x"'})
            out = lab("check", "0")[1] + lab("status")[1]
            self.assertEqual(re.findall(r"^ ?(\d+) wrong", out, re.M), ["2", "10"])
            self.assertRegex(out, r"0 of 12 are right\nnot tried yet: 1, 3, 4, (?s:.*)  failed\n")
            write_pieces(REPAIRS)
            self.assertIn("kept   ", lab("start", "0")[1])
            code, out = lab("check", "0")
            self.assertIn("12 of 12 are right\n", out)
            self.assertEqual(code, 0, out)
            self.assertIn("  passed\n", lab("status")[1])
            for word, *lines in (("different", "loss 0.01", "checksum ab", "checksum ac"),
                                 ("loss", "loss nan", "checksum ab", "checksum ab")):
                write_training(*lines)
                code, out = lab("check", "0")
                self.assertEqual(code, 1)
                self.assertRegex(out, f"wrong: .*{word}")

            out = lab("reset", "0")[1]
            self.assertIn(f"back to the starter: work/{FOLDER.name}/self_test.cpp\n", out)
            kept = Path(re.search("as they were: (.*)\n", out)[1]) / FOLDER.name / "self_test.cpp"
            self.assertIn('kAnswer2 = "acb 30"', kept.read_text(encoding="utf-8"))
            self.assertNotIn("acb", (work / "self_test.cpp").read_text(encoding="utf-8"))
