"""train_mnist on two ranks ends with bitwise identical parameters under every launcher.

MINI_BIN_DIR is the folder of the programs; MINI_BACKENDS lists those of the backends gloo and mpi
that this build has. A test is skipped, with a message, if its launcher or its backend is missing.
"""

import json
import os
import shutil
import subprocess
import unittest
from pathlib import Path

BIN = os.environ["MINI_BIN_DIR"]
OWN_TMPDIR = str(Path(__file__).resolve().parents[1] / "support/with_own_tmpdir.sh")
JOB = [f"{BIN}/train_mnist", "--data", "digits", "--steps", "8", "--batch-size", "32", "--json"]
MINIRUN = [f"{BIN}/minirun", "-n", "2"]
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
       "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}


def trained(launcher, options=(), variables=None):
    """Returns the JSON report of a job of two ranks."""
    found = subprocess.run([*launcher, *JOB, *options], env={**os.environ, **(variables or {})},
                           capture_output=True, text=True, timeout=100, check=False)
    if found.returncode != 0:
        raise AssertionError(f"{launcher[0]} ended with {found.returncode}:\n{found.stderr}")
    return json.loads(found.stdout.splitlines()[-1])


def needed(command):
    """Returns the path of a command; skips the test if it is not installed."""
    path = shutil.which(command)
    if not path:
        raise unittest.SkipTest(f"left out: no {command} here")
    return path


def need_backend(name):
    if name not in os.environ.get("MINI_BACKENDS", "").split():
        raise unittest.SkipTest(f"left out: this build has no backend {name}")


class Launchers(unittest.TestCase):
    def check_same(self, report, backend):
        undisturbed = trained(MINIRUN)
        self.assertEqual(report["world_size"], 2)
        self.assertEqual(report["backend"], backend)
        self.assertEqual(report["parameters_sha256"], undisturbed["parameters_sha256"])
        self.assertEqual(len(set(report["parameters_sha256"])), 1)

    def test_mpirun(self):
        mpirun = needed("mpirun")
        self.check_same(trained([OWN_TMPDIR, mpirun, "-n", "2"], variables=MPI), "ring")

    def test_mpirun_over_backend_mpi(self):
        mpirun = needed("mpirun")
        need_backend("mpi")
        self.check_same(trained([OWN_TMPDIR, mpirun, "-n", "2"], ["--backend", "mpi"], MPI), "mpi")

    def test_minirun_over_backend_gloo(self):
        need_backend("gloo")
        self.check_same(trained(MINIRUN, ["--backend", "gloo"]), "gloo")

    def test_torchrun(self):
        torchrun = needed("torchrun")
        launcher = [torchrun, "--standalone", "--no_python", "--nproc_per_node", "2"]
        if subprocess.run([*launcher, "true"], capture_output=True, check=False).returncode != 0:
            raise unittest.SkipTest("left out: torchrun itself does not work here")
        self.check_same(trained(launcher), "ring")
