"""The sections of labs/lab bench: which cases there are, and the contenders of each.

    step         a training step of the tutorial's ConvNet
    epoch        an epoch of MNIST on two ranks
    all-reduce   float32, on 2 and 4 ranks
    resnet       a training step of ResNet-18 and ResNet-50
    data         samplers and loaders
    start        two ranks: from the start to the first step, and the peak memory
    profile      a step of the ConvNet, layer by layer (step_profile.py)
"""

import json
import os
import statistics
from dataclasses import dataclass
from pathlib import Path

from lab_tool.places import ROOT
from lab_tool.screen import LabError

from bench.rounds import Case
from bench.workers import Once, Ranks, StartedRanks, Worker, free_port, last_json, torch_environment

TORCH_WORKER = ROOT / "tests/bench/torch_worker.py"
OURS = ("libmini", "shared memory", "TCP", "image by image")  # libmini's contenders
SIZES = (4, 87_360, 1 << 20, 25 << 20)  # 87,360 bytes are the ConvNet's gradients


@dataclass
class Plan:
    """What the cases depend on."""

    programs: Path  # the folder of libmini's programs
    peers: object
    data: str  # the folder of MNIST's files, or ""
    quick: bool
    cores: int = len(os.sched_getaffinity(0))

    def seconds(self, usual):
        return 0.02 if self.quick else usual

    def program(self, name):
        return str(self.programs / name)

    def worker(self, *words, key, seconds):
        return Worker([self.program("bench_worker"), *words], key, self.seconds(seconds))

    def torch_command(self, *words):
        return [self.peers.python, str(TORCH_WORKER), *words]

    def torch(self, *words, threads, key, seconds):
        return Worker(self.torch_command(*words), key, self.seconds(seconds),
                      torch_environment(threads))

    def torch_ranks(self, *words, ranks, key, seconds):
        return Ranks(self.torch_command(*words), ranks, key, self.seconds(seconds),
                     torch_environment(1))


def threads_text(threads):
    return "1 thread" if threads == 1 else f"{threads} threads"


def step_case(plan, section, title, words, seconds, compiled):
    """A step on libmini, in PyTorch and, if `compiled`, with torch.compile. `words`: the options of
    both workers."""
    threads = int(words[words.index("--threads") + 1])
    contenders = {"libmini": plan.worker("step", *words, key="ms", seconds=seconds)}
    torch = {"threads": threads, "key": "ms", "seconds": seconds}
    if plan.peers.torch:
        contenders["PyTorch"] = plan.torch("step", *words, **torch)
    if compiled and plan.peers.compiles:
        contenders["torch.compile"] = plan.torch("step", *words, "--compile", **torch)
    return Case(section, title, "ms", contenders)


def thread_counts(plan):
    return (1, 2) if plan.cores >= 2 and not plan.quick else (1,)


def step_cases(plan):
    return [step_case(plan, "step", f"batch {batch} on {threads_text(threads)}",
                      ["--batch", str(batch), "--threads", str(threads)], 0.5, True)
            for batch in ((8,) if plan.quick else (64, 128)) for threads in thread_counts(plan)]


def resnet_cases(plan):
    models = [("resnet18", "ResNet-18 3x32x32", 2 if plan.quick else 32, 1.0)]
    if not plan.quick:
        models.append(("resnet50", "ResNet-50 3x224x224", 8, 0.1))
    return [step_case(plan, "resnet", f"{title} batch {batch} on {threads_text(threads)}",
                      ["--model", model, "--batch", str(batch), "--threads", str(threads)],
                      seconds, False)
            for model, title, batch, seconds in models for threads in thread_counts(plan)]


def epoch_cases(plan):
    """libmini trains two epochs, and the second is measured: PyTorch's ranks are warm too."""
    length = ["--steps", "6"] if plan.quick else ["--epochs", "2"]
    data = ["--data", plan.data or "digits"]

    def libmini(sync):
        command = [plan.program("minirun"), "-n", "2", plan.program("train_mnist"), *length,
                   "--sync", sync, "--json", *data]
        return Once(command, lambda output: last_json(output)["seconds_per_epoch"][-1])

    def torch(sync):
        images = ["--images", str(6 * 128)] if plan.quick else []
        return plan.torch_ranks("epoch", "--sync", sync, "--data", plan.data, *images, ranks=2,
                                key="s", seconds=1)

    ddp = {"libmini": libmini("ddp"), "libmini alone": libmini("none")}
    averaging = {"libmini": libmini("average")}
    if plan.peers.torch:
        ddp.update({"PyTorch": torch("ddp"), "PyTorch alone": torch("none")})
        averaging["PyTorch"] = torch("tutorial")
    return [
        Case("epoch", "DDP", "s", ddp, [("PyTorch", "libmini"), ("libmini", "libmini alone"),
                                        ("PyTorch", "PyTorch alone")]),
        Case("epoch", "the tutorial as written", "s", averaging)]


def all_reduce_case(plan, ranks, size):
    def libmini(*how):
        command = [plan.program("mini"), "bench", "allreduce", "--ranks", ranks, "--sizes", size,
                   "--seconds", plan.seconds(0.2), "--format", "json", *how]
        return Once(command, lambda output: json.loads(output)["rows"][0]["time_us"])

    contenders = {"shared memory": libmini("--medium", "shm"), "TCP": libmini("--medium", "tcp")}
    if plan.peers.gloo:
        contenders["Gloo"] = libmini("--backend", "gloo", "--no-verify")
    if plan.peers.torch and plan.peers.torch["gloo"]:
        contenders["PyTorch's gloo"] = plan.torch_ranks(
            "all-reduce", "--bytes", str(size), ranks=ranks, key="us", seconds=0.2)
    ratios = [(theirs, ours) for theirs in ("Gloo", "PyTorch's gloo")
              for ours in ("shared memory", "TCP")]
    if ranks == 2:
        contenders["private buffers"] = libmini("--medium", "shm", "--memory", "private")
        ratios.append(("Gloo", "private buffers"))
    if ranks == 2 and (plan.quick or size >= 1 << 20):  # for fewer bytes it measures its threads' start
        contenders["raw TCP"] = plan.worker("sockets", "--bytes", str(size), key="us", seconds=0.2)
        ratios.append(("raw TCP", "TCP"))
    contenders["one copy"] = plan.worker("copy", "--bytes", str(size), key="us", seconds=0.1)
    return Case("all-reduce", f"{ranks} ranks: {size} bytes", "us", contenders,
                [*ratios, ("shared memory", "one copy")])


def all_reduce_cases(plan):
    if plan.quick:
        return [all_reduce_case(plan, 2, 87_360)]
    return [all_reduce_case(plan, ranks, size) for ranks in (2, 4) for size in SIZES]


def data_case(plan, title, name, ours):
    """`name` is a case of data_bench in PyTorch; `ours`: {contender: libmini's case}."""
    samples, images = (10_000, 200) if plan.quick else (10_000_000, 60_000)
    sizes = ["--samples", str(samples), "--images", str(images)]

    def libmini(case):
        command = [plan.program("data_bench"), "--case", case, "--repeats", 3, *sizes]
        return Once(command, lambda output: statistics.median(json.loads(output)["seconds"]))

    contenders = {contender: libmini(case) for contender, case in ours.items()}
    if plan.peers.torch:
        contenders["PyTorch"] = plan.torch("data", "--case", name, "--data", plan.data, *sizes,
                                           threads=1, key="s", seconds=0.5)
    return Case("data", title, "s", contenders, [("PyTorch", contender) for contender in ours])


def data_cases(plan):
    """libmini decodes a batch of MNIST at once; PyTorch, and libmini's transforms, each image."""
    cases = [data_case(plan, "DistributedSampler", "distributed_sampler",
                       {"libmini": "distributed_sampler"}),
             data_case(plan, "randperm", "randperm", {"libmini": "randperm"})]
    for batch, workers in ((64, 0), (64, 2), (128, 0), (128, 2)):
        size = f"b{batch}_w{workers}"
        cases.append(data_case(plan, f"MNIST batch {batch} with {workers} workers",
                               f"mnist_{size}", {"libmini": f"mnist_{size}",
                                                 "image by image": f"transforms_{size}"}))
    return cases[:3] if plan.quick else cases


def start_cases(plan):
    def libmini(figure):
        command = [plan.program("minirun"), "-n", "2", plan.program("bench_worker"), "first-step",
                   "--data", plan.data or "digits"]
        return StartedRanks(lambda: [command], figure)

    def torch_commands():
        port = free_port()
        return [plan.torch_command("first-step", "--data", plan.data, "--rank", str(rank),
                                   "--ranks", "2", "--port", str(port)) for rank in range(2)]

    cases = []
    for name, unit, figure in (("until the first step of 2 ranks", "s", "first_step_at"),
                               ("peak memory of a rank", "MiB", "mib")):
        contenders = {"libmini": libmini(figure)}
        if plan.peers.torch:
            contenders["PyTorch"] = StartedRanks(torch_commands, figure, torch_environment(1))
        cases.append(Case("start", name, unit, contenders))
    return cases[:1] if plan.quick else cases


CASES = {"step": step_cases, "epoch": epoch_cases, "all-reduce": all_reduce_cases,
         "resnet": resnet_cases, "data": data_cases, "start": start_cases}
PROFILE = "profile"
TITLES = {
    "step": "A training step of the tutorial's ConvNet",
    "epoch": "An epoch of MNIST on two ranks, global batch 128",
    "all-reduce": "All-reduce of float32",
    "resnet": "A training step of a ResNet",
    "data": "Samplers and loaders: one pass",
    "start": "The start of a job, and its memory",
    PROFILE: "Where a step's time goes",
}


def is_wanted(full_name, words):
    """A word selects the sections and cases that begin with it: step, "step/batch 64". Names have no
    commas, because --only separates words by commas."""
    return not words or any(full_name.startswith(word) for word in words)


def profile_batches(plan, words):
    """Returns the batch sizes of the selected profiles."""
    return [batch for batch in ((8,) if plan.quick else (64, 128))
            if is_wanted(f"{PROFILE}/batch {batch}", words)]


def cases_of(plan, words):
    """Returns the selected cases. Raises LabError for a word that selects nothing."""
    cases = [case for make in CASES.values() for case in make(plan)]
    names = [case.full_name() for case in cases]
    names += [f"{PROFILE}/batch {batch}" for batch in profile_batches(plan, ())]
    for word in words:
        if not any(name.startswith(word) for name in names):
            section = word.split("/")[0]
            near = [name for name in names if name.startswith(section)] or list(TITLES)
            raise LabError(f"--only {word}: there is no such case; there are: {', '.join(near)}")
    return [case for case in cases if is_wanted(case.full_name(), words)]
