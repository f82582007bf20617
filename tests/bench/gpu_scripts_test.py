"""Tests that run.py and compare_cuda.py read the output of `mini bench`, on this build's device."""

import argparse
import importlib.util
import os
import pathlib
import re
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent
BIN = pathlib.Path(os.environ["MINI_BIN_DIR"])


def load(path):
    """Imports a script as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


compare_cuda = load(TESTS / "bench" / "compare_cuda.py")
run = load(TESTS / "gpu" / "run.py")


class GpuScriptsTest(unittest.TestCase):
    def test_the_step_is_measured(self):
        arguments = argparse.Namespace(mini=BIN / "mini", batch=2, seconds=0.001)
        self.assertGreater(compare_cuda.measure_mini(arguments), 0)

    def test_the_summary_has_medians_and_pytorchs_time_over_ours(self):
        result = compare_cuda.summary([(10, 30), (20, 40), (900, 900)])
        self.assertEqual(result, {"libmini_us": 20, "torch_us": 40, "times_as_fast": 2})

    def test_the_suite_runs_each_program_once(self):
        def case(program, name, labels, *environment):
            return {"name": name, "command": [f"bin/{program}", name],
                    "properties": [{"name": "LABELS", "value": labels},
                                   {"name": "ENVIRONMENT", "value": list(environment)}]}

        programs, others = run.suite_programs([
            case("kernels_test", "a", ["unit", "gpu"]),
            case("kernels_test", "b", ["unit", "gpu"]),
            case("nn_test", "c", ["unit"]),
            case("nn_test", "c on cuda", ["gpu"], "MINI_TEST_DEVICE=cuda"),
            case("train_test", "d", ["e2e"]),
            case("train_test", "e", ["e2e", "gpu"]),
            case("mini", "bench: copy", ["gpu"]),
            case("mini", "bench: cpu", ["unit"]),
            case("kernels_test", "tiled", ["gpu"], "MINI_MATMUL=tiled")])
        self.assertEqual(programs, {
            "kernels_test": (["bin/kernels_test"], {}),
            "nn_test on cuda": (["bin/nn_test", "~[cpu]"], {"MINI_TEST_DEVICE": "cuda"}),
            "train_test": (["bin/train_test", "[cuda]"], {})})
        self.assertEqual([name for name in ("bench: copy", "bench: cpu", "tiled", "a")
                          if re.search(others, name)], ["bench: copy", "tiled"])

    def test_the_rows_of_a_bench_are_in_its_result(self):
        run.BENCHES = {name: [*options, "--seconds", "0.001"]
                       for name, options in run.BENCHES.items() if name == "train-step"}
        run.BENCHES["train-step"] += ["--batch", "2"]
        result = run.run_bench(BIN / "mini", "train-step", run.BENCHES["train-step"], 60)
        self.assertEqual(result["status"], "passed", result)
        steps = [row["step"] for row in result["rows"]["rows"]]
        self.assertEqual(steps, ["ConvNet, SGD"])


if __name__ == "__main__":
    unittest.main()
