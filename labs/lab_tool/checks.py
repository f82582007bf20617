"""The checks of labs/lab doctor: each function yields findings."""

import os
import platform
import resource
import shutil
import socket
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from lab_tool import packages
from lab_tool.places import BUILD, ROOT, mnist_folder
from lab_tool.process import output_of

GIB = 1 << 30
MIB = 1 << 20
LEAST_DISK = 3 * GIB
LEAST_MEMORY = 2 * GIB
LEAST_SHM = 64 * MIB + 1  # Docker's default is too small for shared-memory transports
LEAST_FILES = 256


@dataclass(frozen=True)
class Finding:
    level: str  # ok, info, warn or fail
    what: str
    found: str
    next_step: str = ""


def at_least(what, value, least, text, next_step):
    """Returns ok if `value` is at least `least`, else warn with the next step."""
    if value >= least:
        return Finding("ok", what, text)
    return Finding("warn", what, text, next_step)


def check_packages():
    for package in packages.PACKAGES:
        command, version = packages.find_command(package), packages.too_old(package)
        if not packages.is_present(package):
            level = "warn" if package.optional else "fail"
            yield Finding(level, package.name, f"missing ({package.why})", "run: labs/lab setup")
        elif version:
            yield Finding("fail", package.name, packages.dotted(version),
                          f"{packages.dotted(package.oldest)} or newer is needed, as in Debian 12")
        elif command:
            yield Finding("ok", package.name,
                          packages.dotted(packages.command_version(command)) or command)
        else:
            yield Finding("ok", package.name, str(packages.find_file(package)))


def check_sanitizers():
    """Checks that the compiler links programs with sanitizers and this machine runs them."""
    compiler = packages.find_command(packages.PACKAGES[0])
    if not compiler:
        return
    for name in ("address", "undefined", "thread"):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "a"
            built = subprocess.run(
                [compiler, f"-fsanitize={name}", "-x", "c++", "-", "-o", str(program)],
                input="int main() {}", text=True, capture_output=True,
            )
            works = built.returncode == 0 and output_of([str(program)]) is not None
        step = "" if works else "the presets debug or tsan will not work on this machine"
        yield Finding("ok" if works else "warn", f"sanitizer {name}", "works" if works else "fails",
                      step)


def check_machine():
    yield Finding("ok", "python", platform.python_version())
    cores = len(os.sched_getaffinity(0))
    yield at_least("cores", cores, 2, str(cores), "two ranks will share one core")
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    yield at_least("memory", memory, LEAST_MEMORY, f"{memory / GIB:.1f} GiB",
                   "the build needs 2 GiB: close other programs, or add swap")
    free = shutil.disk_usage(BUILD if BUILD.exists() else ROOT).free
    yield at_least("free disk", free, LEAST_DISK, f"{free / GIB:.1f} GiB",
                   "builds of all presets take about 3 GiB")
    if os.path.isdir("/dev/shm"):
        size = shutil.disk_usage("/dev/shm").total
        yield at_least("/dev/shm", size, LEAST_SHM, f"{size / MIB:.0f} MiB",
                       "in Docker, start with --shm-size=1g")
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    yield at_least("open files", files, LEAST_FILES, f"{files} (ulimit -n)",
                   "raise it with: ulimit -n 1024")


def check_network():
    """Checks loopback, which ranks on one machine use, and the host name."""
    try:
        with socket.socket() as server:
            server.bind(("127.0.0.1", 0))
            server.listen(1)
            with socket.create_connection(server.getsockname(), timeout=5):
                yield Finding("ok", "loopback", "127.0.0.1 listens and connects")
    except OSError as error:
        yield Finding("fail", "loopback", str(error),
                      "ranks cannot meet; bring it up with: ip link set lo up")
    name = socket.gethostname()
    try:
        yield Finding("ok", "host name", f"{name} is {socket.gethostbyname(name)}")
    except OSError as error:
        yield Finding("warn", "host name", f"{name}: {error}",
                      "only jobs on several machines need it; add it to /etc/hosts")


def check_cuda():
    driver = output_of(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"])
    toolkit = output_of(["nvcc", "--version"])
    yield Finding("info", "GPU", (driver or "none seen").strip().replace("\n", "; "))
    version = packages.dotted(packages.version_in((toolkit or "").rsplit("release", 1)[-1]))
    yield Finding("info", "CUDA toolkit", version or "none; not needed on the CPU")


def check_data():
    folder = mnist_folder()
    if folder:
        yield Finding("ok", "MNIST", str(folder))
    else:
        yield Finding("info", "MNIST", "not here; the demo draws its own digits",
                      "fetch it with: data/fetch_mnist")


CHECKS = (check_machine, check_packages, check_sanitizers, check_network, check_cuda, check_data)
