"""Tests of run.py and compare_cuda.py, on this build's device, and with tools and clocks that are made up."""

import argparse
import contextlib
import importlib.util
import io
import json
import os
import pathlib
import re
import sys
import tempfile
import threading
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent
BIN = pathlib.Path(os.environ["MINI_BIN_DIR"])
sys.path.insert(0, str(TESTS / "gpu"))


def load(path):
    """Imports a script as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


compare_cuda = load(TESTS / "bench" / "compare_cuda.py")
run = load(TESTS / "gpu" / "run.py")
checks, figures, profile_kernels = run.checks, run.figures, run.profile_kernels
Step = run.facts.Step

NCU = '''==PROF== Connected to process 7
"ID","Process ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"
"0","7","relu_each_kernel","Command line profiler metrics","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","sector","512"
"0","7","relu_each_kernel","Command line profiler metrics","l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum","sector","1,024"
"0","7","relu_each_kernel","Command line profiler metrics","gpu__time_duration.sum","ns","2,500"
"1","7","sum_kernel","Command line profiler metrics","launch__registers_per_thread","register/thread","16"
'''
COUNTS = """\
relu_each_kernel, 16 blocks of 256 threads
    loads 128 instructions, 512 sectors, 100 % used; stores 128 instructions, 1024 sectors, 50 % used
    relu.cu:33 stores, global memory: 1024 sectors of 32 bytes; 512 would hold the data
sum_kernel, 1 blocks of 256 threads
    loads 1 instructions, 2 sectors, 100 % used; stores 1 instructions, 1 sectors, 12 % used
    shared memory 150 passes, 45 without bank conflicts
"""


class Sandbox(unittest.TestCase):
    """A folder of the test's own, in which tools can be made up."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def make_tool(self, name, script):
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    def call(self, *words):
        """Calls run.py's main; returns the exit code, and the results of the only commit."""
        out = self.folder / "gpu.json"
        with contextlib.redirect_stdout(io.StringIO()):
            code = run.main(["--build", str(BIN.parent), "--out", str(out), "--small", *words])
        (results,) = json.loads(out.read_text()).values()
        return code, results


class Small(Sandbox):
    def test_every_part_runs_on_this_builds_device(self):
        code, results = self.call("--commit", "abc", "--without", "sanitizer")
        self.assertEqual(code, 0, results)
        self.assertEqual(list(results)[:6], ["facts", "build", "bench", "step", "torch", "job"])
        facts = results["facts"]["facts"]["data"]
        self.assertEqual(facts["commit"], "abc")
        self.assertRegex(facts["date"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$")
        self.assertIn(facts["build"]["MINI_CUDA"], ("AUTO", "SIM", "ON"))
        self.assertEqual(results["build"]["the programs"]["command"], "kernel_times, train_mnist start")
        kernels = results["bench"]["memory --elements 2048"]["data"]["rows"]
        self.assertEqual(kernels[0]["kernel"], "copy")
        self.assertEqual(kernels[-1]["kernel"], "fill")  # after it the operand would be constant
        self.assertEqual(results["step"]["convnet 2"]["data"]["parameters"], 21840)
        job = results["job"]["train_mnist, 1 workers"]["data"]
        self.assertEqual(len(job["parameters_sha256"][0]), 64)
        if importlib.util.find_spec("torch") is None:
            self.assertEqual(results["torch"]["convnet 2 eager"],
                             {"status": "left out", "why": "PyTorch is not on this machine"})
        self.assertEqual(results["profile"]["ncu"]["status"], "left out")

    def test_a_second_call_runs_only_what_has_not_passed(self):
        parts = "build,bench,step,job,profile,suite,sanitizer"
        self.call("--without", parts)
        before = self.call("--without", "bench,step,job,profile,suite,sanitizer")[1]
        self.assertEqual(before["build"]["the programs"]["status"], "passed")
        after = self.call("--without", parts)[1]
        self.assertEqual(after["build"], before["build"])
        self.assertEqual(after["facts"], before["facts"])

    def test_another_commit_keeps_the_results_of_the_first(self):
        parts = ",".join(part for part in run.PARTS if part != "facts")
        out = self.folder / "gpu.json"
        for commit in ("a", "b"):
            with contextlib.redirect_stdout(io.StringIO()):
                run.main(["--build", ".", "--out", str(out), "--small", "--without", parts,
                          "--commit", commit])
        results = json.loads(out.read_text())
        self.assertEqual([key.split(" on ")[0] for key in results], ["a", "b"])


class OneStep(unittest.TestCase):
    def test_an_exception_in_a_step_fails_this_step_alone(self):
        step = Step("broken", lambda seconds: 1 / 0)
        self.assertEqual(run.run_step(step, 7),
                         {"status": "failed", "output": "ZeroDivisionError('division by zero')"})

    def test_a_step_is_given_the_timeout(self):
        self.assertEqual(run.run_step(Step("slow", lambda seconds: {"seconds": seconds}), 7), {"seconds": 7})


class Tools(Sandbox):
    def setUp(self):
        super().setUp()
        self.path = os.environ["PATH"]
        os.environ["PATH"] = f"{self.folder}:{self.path}"
        self.addCleanup(os.environ.__setitem__, "PATH", self.path)

    def test_a_tool_that_cannot_work_here_is_left_out_with_its_line_and_not_started_again(self):
        self.make_tool("ncu", f'echo x >> {self.folder}/calls; echo "==PROF== Connected"\n'
                              'echo "==ERROR== ERR_NVGPUCTRPERM - The user has no permission"; exit 1')
        tool = checks.Tool("ncu")
        for _ in range(2):
            self.assertEqual(tool.run([], 10), {
                "status": "left out", "why": "==ERROR== ERR_NVGPUCTRPERM - The user has no permission"})
        self.assertEqual((self.folder / "calls").read_text(), "x\n")

    def test_a_tool_that_reports_a_fault_of_the_program_fails(self):
        self.make_tool("compute-sanitizer", 'echo "========= Invalid __global__ read of size 4 bytes"; exit 9')
        self.assertEqual(checks.Tool("compute-sanitizer").run([], 10)["status"], "failed")

    def test_a_missing_tool_is_left_out(self):
        why = checks.Tool("no-such-tool").run([], 10)["why"]
        self.assertIn("no-such-tool is not on this machine", why)

    def test_after_the_first_answer_six_files_are_checked_at_a_time(self):
        tool = checks.Tool(self.make_tool("compute-sanitizer", ""))
        together = threading.Barrier(6)

        def answer(*_):
            if tool.works:
                together.wait(60)
            return {"status": "passed", "exit_code": 0, "output": ""}

        self.addCleanup(setattr, checks, "run", checks.run)
        checks.run = answer
        run.PARTS["made up"] = (lambda _: [Step(str(i), lambda seconds: tool.run([], seconds))
                                           for i in range(7)], 6)
        self.addCleanup(run.PARTS.pop, "made up")
        arguments = argparse.Namespace(timeout=60, without=[])
        results = run.Results(self.folder / "out.json", "key")
        with contextlib.redirect_stdout(io.StringIO()):
            statuses = run.run_part("made up", arguments, results)
        self.assertEqual(statuses, ["passed"] * 7)


class Profile(Sandbox):
    def test_ncus_counts_stand_beside_the_simulators(self):
        relu, total = profile_kernels.launches_of(NCU)
        self.assertEqual(relu, {"kernel": "relu_each_kernel", "load_sectors": 512, "store_sectors": 1024,
                                "us": 2.5})
        self.assertEqual(total, {"kernel": "sum_kernel", "registers": 16})
        simulated = {"kernel": "relu", "load_sectors": 512, "store_sectors": 512, "shared_passes": 0}
        relu["shared_passes"] = 0
        (both,) = profile_kernels.agreement([relu], [simulated])
        self.assertEqual(both["load_sectors"], [512, 512])
        self.assertFalse(both["agree"])
        relu["store_sectors"] = 512
        self.assertTrue(profile_kernels.agreement([relu], [simulated])[0]["agree"])
        self.assertIn("1 launches on the GPU, 2", profile_kernels.agreement([relu], [simulated] * 2)["disagree"])

    def test_the_simulators_counts_are_what_mini_cuda_prints(self):
        (self.folder / "relu.txt").write_text(COUNTS)
        arguments = argparse.Namespace(simulator=self.folder, build=BIN.parent)
        self.assertEqual([step.name for step in profile_kernels.steps(arguments)], ["ncu relu"])
        self.assertEqual(profile_kernels.counts_in(COUNTS), [
            {"kernel": "relu_each_kernel", "load_sectors": 512, "store_sectors": 1024, "shared_passes": 0},
            {"kernel": "sum_kernel", "load_sectors": 2, "store_sectors": 1, "shared_passes": 150}])


class Scripts(unittest.TestCase):
    def test_the_step_is_measured(self):
        arguments = argparse.Namespace(bin=BIN, model="convnet", batch=2, seconds=0.001)
        self.assertGreater(compare_cuda.measure_mini(arguments), 0)

    def test_the_summary_has_medians_and_pytorchs_time_over_ours(self):
        result = compare_cuda.summary([(10, 30), (20, 40), (900, 900)])
        self.assertEqual(result, {"libmini_us": 20, "torch_us": 40, "times_as_fast": 2})

    def test_each_variant_of_pytorch_is_a_step_beside_ours(self):
        names = [step.name for step in figures.torch_steps(argparse.Namespace(small=False, build=BIN.parent))]
        for variant in compare_cuda.VARIANTS:
            self.assertIn(f"convnet 128 {variant}", names)
            self.assertIn(f"resnet18 128 {variant}", names)

    def test_the_suite_runs_each_program_once(self):
        def case(program, name, labels, *environment, alone=False):
            return {"name": name, "command": [f"bin/{program}", name],
                    "properties": [{"name": "LABELS", "value": labels},
                                   {"name": "ENVIRONMENT", "value": list(environment)},
                                   {"name": "RUN_SERIAL", "value": alone}]}

        programs, others, alone = checks.suite_programs([
            case("kernels_test", "a", ["unit", "gpu"]),
            case("kernels_test", "b", ["unit", "gpu"]),
            case("runtime_test", "r", ["unit", "gpu"], alone=True),
            case("nn_test", "c", ["unit"]),
            case("nn_test", "c on cuda", ["gpu"], "MINI_TEST_DEVICE=cuda"),
            case("train_test", "d", ["e2e"]),
            case("train_test", "e", ["e2e", "gpu"]),
            case("mini", "bench: copy", ["gpu"]),
            case("mini", "bench: cpu", ["unit"])])
        self.assertEqual(programs, {
            "kernels_test": (["bin/kernels_test"], {}),
            "runtime_test": (["bin/runtime_test"], {}),
            "nn_test on cuda": (["bin/nn_test", "~[cpu]"], {"MINI_TEST_DEVICE": "cuda"}),
            "train_test": (["bin/train_test", "[cuda]"], {})})
        self.assertEqual(alone, {"runtime_test"})
        self.assertEqual([name for name in ("bench: copy", "bench: cpu", "a")
                          if re.search(others, name)], ["bench: copy"])
