"""Each measure.py draws its chart: from made-up measurements, with the built `mini`.

    MINI_BIN_DIR=build/release/bin PYTHONPATH=labs:tests/labs python3 -m unittest \\
        tests/labs/charts_test.py
"""

import contextlib
import io
import json
import os
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path
from unittest import mock

import chart
import measure_test
from measure_test import script

BIN = Path(os.environ.get("MINI_BIN_DIR", "build/release/bin")).resolve()

DEPTH = """\
layer  std 0.1  Kaiming  Xavier  Linear
    1      0.9      1.0     0.7     0.5
    2      0.8      1.0     0.5     0.2
"""
TRAFFIC = "\n".join(json.dumps(
    {"workers": workers, "ddp": 1000 * workers,
     "dp": dict.fromkeys(("scattered", "replicated", "gathered", "reduced", "total"), 9000)})
    for workers in (1, 2, 4))
AVERAGING = "\n".join(json.dumps(
    {"variant": variant, "test_loss": [2.0 / epoch for epoch in range(1, 13)], "own_loss": 0.1})
    for variant in ("gradients", "parameters once"))


def found_texts(path):
    root = xml.etree.ElementTree.fromstring(path.read_text(encoding="utf-8"))
    return [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]


class Charts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        self.folder = Path(folder.name)
        os.chdir(self.folder)
        (self.folder / "mini").symlink_to(BIN / "mini")

    def draw(self, lab, *names, outputs=None, replaced=None, arguments=()):
        """Runs main() of a lab's measure.py, with programs that print `outputs` and with the
        functions `replaced`; checks that the names are in its charts."""
        for name, output in (outputs or {}).items():
            program = self.folder / name
            program.write_text(f"#!/bin/sh\ncat <<'END'\n{output.rstrip()}\nEND\n")
            program.chmod(0o755)
        module = script(lab)
        for name, function in (replaced or {}).items():
            setattr(module, name, function)
        with mock.patch("sys.argv", ["measure.py", "--bin", str(self.folder), *arguments]), \
                contextlib.redirect_stdout(io.StringIO()):
            module.main()
        texts = [text for path in self.folder.glob("*.svg") for text in found_texts(path)]
        for name in names:
            self.assertIn(name, texts)

    def test_lab_01(self):
        self.draw("01-tensor", "no gaps: one run", "predicted",
                  outputs={"strided_loops": measure_test.LOOPS})

    def test_lab_02(self):
        self.draw("02-kernels", "0.1, in pairs", "2^-26 √n", arguments=["sums"],
                  outputs={"sum_error": measure_test.SUMS})
        kernels = measure_test.PRODUCTS.replace("reordered", "Eigen    ")
        self.draw("02-kernels", "peak: multiply-adds only", "roof: copy, multiply-adds", "x + y",
                  arguments=["products"], outputs={"matmul_variants": kernels})

    def test_lab_03(self):
        self.draw("03-autograd", "central difference", "h²/6 + rounding / h",
                  outputs={"step_size": measure_test.STEPS})

    def test_lab_04(self):
        self.draw("04-modules-losses-sgd", "Xavier", outputs={"depth": DEPTH})

    def test_lab_05(self):
        self.draw("05-convnet", "conv1, forward", "im2col", "28", "peak, 113 GFLOP/s",
                  outputs={"conv_methods": measure_test.CONVOLUTIONS})

    def test_lab_06(self):
        self.draw("06-cuda-kernels", "atomic", arguments=["./sum", "--orders", "2"],
                  outputs={"sum": measure_test.SUM_ERRORS})

    def test_lab_07(self):
        self.draw("07-partition", "plain, shuffled", outputs={"dealing": measure_test.DEALING})

    def test_lab_08(self):
        self.draw("08-samplers-and-loader", "the fetch computes", "predicted",
                  outputs={"loader_workers": measure_test.WORKERS})

    def test_lab_09(self):
        self.draw("09-distributed-sampler", "DistributedEvalSampler",
                  outputs={"padded_accuracy": measure_test.PADDED})

    def test_lab_10(self):
        self.draw("10-store-and-rendezvous", "rendezvous", "barrier",
                  outputs={"rendezvous_time": measure_test.RENDEZVOUS})

    def test_lab_11(self):
        names = ("naive", "tree", "ring", "recursive-doubling", "halving-doubling", "tutorial")
        table = "\n".join(f"{name} 3 1200 {20 + len(name)} equal" for name in names)
        self.draw("11-collectives", *names, "16 MiB", outputs={"collective_costs": table})

    def test_lab_12(self):
        self.draw("12-launcher", "minirun, two writes", "one pipe, one write",
                  replaced={"share_of_whole_lines": lambda *_: 50.0})

    def test_lab_13(self):
        self.draw("13-data-parallel", "DDP, busiest rank", outputs={"dp_traffic": TRAFFIC})

    def test_lab_14(self):
        self.draw("14-gradient-averaging", "gradients", "parameters once",
                  outputs={"averaging_ways": AVERAGING})

    def test_lab_15(self):
        gradient = {"name": "fc1.weight", "bytes": 64000, "launched_ms": 3, "begun_ms": 3,
                    "ended_ms": 9}
        report = {"step_ms": 30, "backward_ms": 15, "gradients": [gradient]}
        self.draw("15-ddp-by-hooks", "overlap", "flat, predicted",
                  replaced={"run": lambda *_: report})

    def test_lab_16(self):
        report = {"ms": 30.0, "buckets": [1000, 2000], "hidden": 0.5, "communication": 8.0,
                  "backward": 9.0, "others": 0.1}
        self.draw("16-bucketed-ddp", "DDP, in buckets", "formula, most hidden", "no exchange",
                  "one each", "128", replaced={"run_beside_others": lambda *_: report})

    def test_lab_17(self):
        self.draw("17-faults-and-checkpoints", "simulated", "formula", arguments=["--hours", "20"])

    def test_lab_18(self):
        names = script("18-compressing-gradients").ways()
        self.draw("18-compressing-gradients", "top 1 %, 0.1 %", "float32, fp16, bf16", replaced={
            "learn": lambda _: {name: (0.9, 1000 + 7 * i) for i, name in enumerate(names)},
            "times": lambda _: {name: [1.0, 2.0] for name in names}})

    def test_lab_19(self):
        def run(options, stage, ranks, bucket=25):
            return {"sha256": ["a"], **dict.fromkeys(("parameters", "gradients", "state", "peak"),
                                                     [1 << 20] * ranks)}

        self.draw("19-sharding-the-optimizer", "P = 7", "stage 2", "gradients",
                  replaced={"run": run})

    def test_lab_20(self):
        def steps(options, ranks, caps):
            return {(P, cap): 100.0 + P + cap for P in ranks for cap in caps}

        self.draw("20-scaling-by-simulation", "one bucket", "256 ranks", "one each",
                  arguments=["--shapes"], replaced={"steps": steps})

    def test_lab_21(self):
        def run(options, ranks, way, *more):
            counts = dict.fromkeys(("kept", "peak", "sent", "resident"), [1 << 20] * ranks)
            return {**counts, "parameters": 1 << 20, "ms": 5.0}

        self.draw("21-fully-sharded", "P = 4", "ZeRO 2", "FSDP", replaced={"run": run})

    def test_lab_22(self):
        report = dict.fromkeys(("parameters", "saved", "peak"), 1 << 20)
        times = {"forward_s": 0.1, "backward_s": 0.2, "step_s": 0.3}
        self.draw("22-memory-and-precision", "none", "8 a checkpoint", "saved", "peak",
                  replaced={"run": lambda *_, **__: {**report, **times}})

    def test_each_lab_has_a_test(self):
        labs = {path.parent.name[:2] for path in measure_test.LABS.glob("*/measure.py")}
        self.assertEqual(labs, {name[-2:] for name in dir(self) if name.startswith("test_lab_")})

    def test_without_mini_the_message_says_how_to_build_it(self):
        with self.assertRaises(SystemExit) as found:
            chart.draw("build/none/bin", "a.svg", type="line")
        self.assertIn("cmake --build build/none --target mini", str(found.exception))

    def test_an_error_of_mini_ends_the_script(self):
        with self.assertRaises(SystemExit) as found:
            chart.draw(str(BIN), "a.svg", type="pie")
        self.assertEqual(found.exception.code, 1)
        self.assertFalse(Path("a.svg").exists())
