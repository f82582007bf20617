"""Made-up contenders, noises and results for the tests of labs/lab bench."""

from bench import rounds
from bench.quiet import Noise

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


def figure(median):
    return {"median": median, "low": median * 0.9, "high": median * 1.1}


def result(name, median, valid=True, section="step"):
    return {"section": section, "case": name, "unit": "ms", "valid": valid,
            "why_not": "" if valid else str(BUSY),
            "contenders": {"libmini": figure(median), "PyTorch": figure(2.5 * median)},
            "ratios": [{"of": "PyTorch", "to": "libmini", **figure(2.5)}],
            "rounds": [{}] * 7, "disturbed_rounds": []}


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
    return {"date": "2026-11-25", "quick": False, "load": [0.1, 1.2],
            "machine": {"cpu": "A CPU", "vectors": "AVX2", "cores": 2, "system": "Linux",
                        "commit": "abc", "peak_gflops": {"1": 100.0, "2": 200.0}},
            "peers": {"torch": {"version": "2.15.0", "cpu": "AVX2", "gloo": True}},
            "notes": ["Gloo is absent"], "cases": list(cases), "profiles": list(profiles)}
