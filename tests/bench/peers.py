"""The peers that are present, and the facts about this machine for the report."""

import json
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from lab_tool.places import ROOT
from lab_tool.process import output_of

FACTS = """
import importlib.util, json, torch, torch.distributed
print(json.dumps({"version": torch.__version__, "gloo": torch.distributed.is_gloo_available(),
                  "torchvision": importlib.util.find_spec("torchvision") is not None,
                  "cpu": torch.backends.cpu.get_cpu_capability()}))
"""
COMPILES = """
import torch
f = torch.compile(lambda x: torch.relu(x) * 2)
assert f(torch.ones(8))[0] == 2
"""
INSTALL = "pip install torch --index-url https://download.pytorch.org/whl/cpu"


@dataclass
class Peers:
    python: str  # the Python that has PyTorch
    torch: dict = None  # its version, and whether it has gloo; None: absent
    compiles: bool = False  # torch.compile works
    gloo: bool = False  # Gloo's library is in this build of libmini

    def notes(self):
        """Returns one line per absent peer, with the way to get it."""
        lines = []
        if not self.torch:
            lines.append(f"PyTorch is absent in {self.python}; install it ({INSTALL}), or name a "
                         "Python that has it with --python")
        elif not self.compiles:
            lines.append("torch.compile does not work here: it needs a C++ compiler and Python's "
                         "headers (apt-get install g++ python3-dev)")
        if self.torch and not self.torch["torchvision"]:
            lines.append("torchvision is absent: PyTorch converts images by tensor operations, not by "
                         "torchvision's slower transforms")
        if not self.gloo:
            lines.append("Gloo's library is not in this build: labs/lab setup installs "
                         "libgloo-dev, then run this again")
        return lines

    def facts(self):
        return {"torch": self.torch, "torch.compile": self.compiles, "gloo": self.gloo}


def succeeds(command, env=None, seconds=180):
    try:
        return subprocess.run(command, env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              timeout=seconds).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def find_torch(python):
    """Returns PyTorch's facts, or None. The first import after an installation may take a minute."""
    try:
        result = subprocess.run([python, "-c", FACTS], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                timeout=180)
    except subprocess.TimeoutExpired:
        return None
    return json.loads(result.stdout) if result.returncode == 0 else None


def compiles(python):
    """torch.compile needs a C++ source and a shared library of its own."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "compiles.py")
        script.write_text(COMPILES)
        return succeeds([python, str(script)])


def find_peers(python, mini, with_compile):
    """`mini`: libmini's program; `with_compile`: torch.compile is needed, and is tried."""
    peers = Peers(python or sys.executable)
    peers.torch = find_torch(peers.python)
    peers.compiles = bool(peers.torch) and with_compile and compiles(peers.python)
    peers.gloo = succeeds([str(mini), "bench", "allreduce", "--backend", "gloo", "--ranks", "1",
                           "--sizes", "4", "--seconds", "0.001"])
    return peers


def cpu_field(name):
    try:
        for line in Path("/proc/cpuinfo").read_text().split("\n"):
            if line.split(":")[0].strip() == name:
                return line.split(":")[1].strip()
    except OSError:
        pass
    return ""


def vector_width():
    flags = cpu_field("flags").split()
    return next((name for name, flag in (("AVX-512", "avx512f"), ("AVX2", "avx2"))
                 if flag in flags), platform.machine())


def machine_facts():
    commit = (output_of(["git", "-C", str(ROOT), "describe", "--always", "--dirty"]) or "").strip()
    return {"cpu": cpu_field("model name") or platform.processor() or platform.machine(),
            "cores": len(os.sched_getaffinity(0)), "vectors": vector_width(),
            "system": platform.system(), "commit": commit}
