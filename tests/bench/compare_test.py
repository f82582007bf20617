"""tests/bench/compare.py: its figures, and a quick run without PyTorch."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

import compare  # noqa: E402


class Figures(unittest.TestCase):
    def test_numbers_have_three_significant_digits(self):
        self.assertEqual([compare.number(value) for value in (0.01234, 1.234, 12.34, 1234.0)],
                         ["0.0123", "1.23", "12.3", "1,234"])

    def test_a_ratio_is_the_median_of_the_ratios_of_the_rounds(self):
        values = {"libmini": [1.0, 2.0, 4.0], "PyTorch": [10.0, 10.0, 10.0]}
        self.assertEqual(compare.row("a step", "ms", values),
                         "| a step, ms | libmini 2.00 | PyTorch 10.0 | "
                         "PyTorch / libmini 5.00 (2.50 to 10.0) |")

    def test_a_worker_that_dies_is_named_with_its_message(self):
        workers = compare.Workers([sys.executable, "-c", "print(1 / 0)"], "ms")
        self.addCleanup(workers.stop)
        with self.assertRaisesRegex(compare.Failure, "ZeroDivisionError"):
            workers.measure(0.01)


class QuickRun(unittest.TestCase):
    def test_a_quick_run_without_pytorch_measures_all_sections(self):
        with tempfile.TemporaryDirectory() as folder:
            python = Path(folder) / "python"  # without packages: PyTorch is absent in it
            python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n')
            python.chmod(0o755)
            done = subprocess.run(
                [sys.executable, FOLDER / "compare.py", "--quick", "--rounds", "1", "--bin",
                 os.environ["MINI_BIN_DIR"], "--python", python], capture_output=True, text=True,
                env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("without PyTorch: ModuleNotFoundError", done.stderr)
        for section in ("step", "epoch", "all-reduce", "data", "start"):
            self.assertIn(f"\n## {section}\n\n| ", done.stdout)
        self.assertEqual(done.stdout.count("| libmini "), 9, done.stdout)
        has_mpi = (Path(os.environ["MINI_BIN_DIR"]) / "mpi_all_reduce").exists()
        self.assertEqual(done.stdout.count("| MPI / "), int(has_mpi), done.stdout + done.stderr)

    def test_the_start_of_an_epoch_is_measured(self):
        done = subprocess.run([Path(os.environ["MINI_BIN_DIR"]) / "bench_worker", "data", "--case",
                               "short_epochs", "--workers", "2"], input="0.01\n", text=True,
                              capture_output=True, check=True)
        self.assertGreater(json.loads(done.stdout)["s"], 0)
