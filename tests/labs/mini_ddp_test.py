"""Lab 00's program: compiled as its first lines say, and run as its page says."""

import os
import re
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "labs" / "00-the-whole-idea"
MNIST = Path(os.environ.get("MINI_DATA_DIR", "")) / "mnist"


class MiniDdpTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """Compiles the program with the command of its head."""
        cls.place = tempfile.TemporaryDirectory()
        cls.program = Path(cls.place.name) / "mini_ddp"
        source = FOLDER / "mini_ddp.cpp"
        command = re.search(r"g\+\+ .*", source.read_text(encoding="utf-8"))[0].split()
        command[command.index("mini_ddp.cpp")] = source
        subprocess.run([*command[:-1], cls.program], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def start(self, *options):
        return subprocess.Popen([self.program, *options], cwd=self.place.name, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run_ranks(self, ranks, *options):
        """Returns the losses of the epochs, the last accuracy, and the ranks' checksums."""
        job = self.start(f"ranks={ranks}", *options)
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
            if 256 % ranks == 0:  # else a step has fewer than 256 images
                for one, many in zip(alone, losses):
                    self.assertLess(abs(one - many), 0.1, ranks)

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


if __name__ == "__main__":
    unittest.main()
