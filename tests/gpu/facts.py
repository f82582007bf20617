"""What was measured, and on what: the parts "facts" and "build" of run.py."""

import datetime
import importlib.util
import os
import pathlib
import platform
import re
import shutil
import subprocess

from steps import Step, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
ASKED = ["name", "driver_version", "clocks.sm", "clocks.max.sm", "clocks.mem", "power.limit",
         "temperature.gpu", "ecc.mode.current"]
CACHED = ["CMAKE_BUILD_TYPE", "MINI_CUDA", "MINI_CUDA_ARCHITECTURES", "MINI_NATIVE"]
PROGRAMS = ["kernel_times", "train_mnist"]


def answer(*command):
    """Returns a command's output, or None if it does not run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=ROOT)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def commit():
    """Returns the commit, with "-changed" if files differ from it."""
    number = answer("git", "rev-parse", "--short=12", "HEAD")
    if number is None:
        return "unknown commit"
    return number + ("-changed" if answer("git", "status", "--porcelain", "-uno") else "")


def gpu():
    """Returns nvidia-smi's answers for the first GPU, {} without a GPU."""
    text = answer("nvidia-smi", f"--query-gpu={','.join(ASKED)}", "--format=csv,noheader")
    if not text:
        return {}
    return dict(zip(ASKED, (value.strip() for value in text.splitlines()[0].split(","))))


def gpu_name():
    """Returns the name of the first GPU, or None."""
    return gpu().get("name")


def torch_facts():
    if importlib.util.find_spec("torch") is None:
        return None
    import torch  # pylint: disable=import-outside-toplevel
    return {"version": torch.__version__, "cuda": torch.version.cuda, "sees_gpu": torch.cuda.is_available(),
            "matmul_allow_tf32": torch.backends.cuda.matmul.allow_tf32,
            "cudnn_allow_tf32": torch.backends.cudnn.allow_tf32}


def nvcc():
    path = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    return (answer(path, "--version") or "no nvcc").splitlines()[-1]


def build_settings(build):
    """Returns the build's settings from its cache."""
    cache = build / "CMakeCache.txt"
    text = cache.read_text() if cache.exists() else ""
    found = dict(re.findall(r"^(\w+):\w+=(.*)$", text, re.M))
    return {name: found.get(name) for name in CACHED}


def collect(arguments):
    now = datetime.datetime.now(datetime.timezone.utc)
    return {"status": "passed",
            "data": {"commit": arguments.commit, "date": now.isoformat(timespec="seconds"), "gpu": gpu(),
                     "machine": f"{platform.machine()}, {os.cpu_count()} processors", "nvcc": nvcc(),
                     "torch": torch_facts(), "build": build_settings(arguments.build)}}


def steps(arguments):
    # Again in each call: clocks and the temperature change. The first call's answer stays.
    return [Step("facts", lambda seconds: collect(arguments))]


def build_programs(arguments, seconds):
    """Starts the programs; if one does not start, builds all of them here. Records the seconds."""
    for program in PROGRAMS:
        result = run([arguments.build / "bin" / program, "--help"], seconds) if (
            arguments.build / "bin" / program).exists() else None
        if result is None or result["status"] != "passed":
            return run(["cmake", "--build", arguments.build, "--parallel", str(os.cpu_count())], seconds)
    return {**result, "command": f"{', '.join(PROGRAMS)} start", "output": ""}


def build_steps(arguments):
    return [Step("the programs", lambda seconds: build_programs(arguments, seconds))]
