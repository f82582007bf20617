"""Checks this machine, and changes nothing: what the build needs, then what
ranks need.

Each line has ok, info, warn or fail; the remedy is below it. The exit code is 1
if a check fails.
"""

import os
import platform
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import dataclass
from pathlib import Path

from lab_tool import packages
from lab_tool.places import BUILD, ROOT, mnist_folder
from lab_tool.process import output_of
from lab_tool.screen import has_colours, say

COLUMNS = 80
COLOURS = {"ok": "32", "info": "36", "warn": "33", "fail": "31"}
GIB = 1 << 30
LEAST_DISK = 3 * GIB
LEAST_MEMORY = 2 * GIB
LEAST_SHM = 64 * (1 << 20) + 1  # Docker's default is too small for NCCL
FILES_OF_A_PROGRAM, FILES_OF_A_RANK = 256, 4  # libraries, data, logs; of minirun, and sockets
OLDEST_CUDA = (12, 3)  # as in libmini/cmake/MiniCuda.cmake
CUDA_FOLDER = "/usr/local/cuda/bin"


@dataclass(frozen=True)
class Finding:
    level: str  # ok, info, warn or fail
    what: str
    found: str
    remedy: str = ""


def at_least(what, value, least, text, remedy):
    """Returns ok if `value` is at least `least`, else warn with the remedy."""
    if value >= least:
        return Finding("ok", what, text)
    return Finding("warn", what, text, remedy)


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
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    yield at_least("memory", memory, LEAST_MEMORY, f"{memory / GIB:.1f} GiB",
                   "the build needs 2 GiB: close other programs, or add swap")
    free = shutil.disk_usage(BUILD if BUILD.exists() else ROOT).free
    yield at_least("free disk", free, LEAST_DISK, f"{free / GIB:.1f} GiB",
                   "builds of all presets take about 3 GiB")


def check_cuda():
    """Checks the toolkit, which a build for GPUs needs."""
    gpus = output_of(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"])
    names = (gpus or "").strip().replace("\n", "; ")
    nvcc = shutil.which("nvcc", path=f"{os.environ.get('PATH', '')}:{CUDA_FOLDER}")
    output = output_of([nvcc, "--version"]) if nvcc else ""
    version = packages.version_in((output or "").rsplit("release", 1)[-1])
    found = packages.dotted(version)
    if not version:
        yield Finding("warn" if names else "info", "CUDA toolkit",
                      f"none, for {names}" if names else "none; not needed on the CPU",
                      "to use the GPU, install CUDA" if names else "")
    elif version < OLDEST_CUDA:
        yield Finding("warn", "CUDA toolkit", found,
                      f"a build for GPUs needs {packages.dotted(OLDEST_CUDA)} or newer")
    else:
        yield Finding("ok", "CUDA toolkit", f"{found}, for {names or 'no GPU on this machine'}")
    driver = packages.version_in((output_of(["nvidia-smi"]) or "").rsplit("CUDA Version", 1)[-1])
    if names and driver and version:
        yield at_least("CUDA driver", driver[0], version[0], packages.dotted(driver),
                       f"update the driver, or build with CUDA {packages.dotted(driver)} or older")


def check_data():
    folder = mnist_folder()
    if folder:
        yield Finding("ok", "MNIST", str(folder))
    else:
        yield Finding("info", "MNIST", "not here; the demo draws its own digits",
                      "fetch it with: data/fetch_mnist")


def check_ranks(ranks):
    """Checks the limits of this process for a job of `ranks` ranks."""
    cores = len(os.sched_getaffinity(0))
    yield at_least("cores", cores, ranks, str(cores),
                   f"{ranks} ranks take turns: measure with at most {cores}")
    shm = shutil.disk_usage("/dev/shm").free if os.path.isdir("/dev/shm") else 0
    yield at_least("/dev/shm", shm, LEAST_SHM, f"{shm >> 20} MiB free",
                   "NCCL and Open MPI pass messages there: remove old files, or in Docker "
                   "start with --shm-size=1g")
    files, needed = resource.getrlimit(resource.RLIMIT_NOFILE)[0], FILES_OF_A_PROGRAM + FILES_OF_A_RANK * ranks
    files = sys.maxsize if files == resource.RLIM_INFINITY else files
    yield at_least("open files", files, needed, f"{files} (ulimit -n)",
                   f"raise it for {ranks} ranks: ulimit -n {needed}")


def check_network():
    """Checks that ranks can meet, here and from other nodes."""
    try:
        with socket.create_server(("127.0.0.1", 0)) as server, \
                socket.create_connection(server.getsockname(), timeout=5):
            yield Finding("ok", "loopback", "a free port of 127.0.0.1 connects")
    except OSError as error:
        yield Finding("fail", "loopback", str(error),
                      "ranks cannot meet; bring it up with: ip link set lo up")
    host = socket.gethostname()
    try:
        yield Finding("ok", "host name", f"{host} is {socket.gethostbyname(host)}")
    except OSError:
        yield Finding("warn", "host name", f"{host} does not resolve",
                      "jobs on several nodes need it: add it to /etc/hosts")


CHECKS = (check_machine, check_packages, check_sanitizers, check_cuda, check_data, check_network)


def add_arguments(parser):
    parser.add_argument("-n", type=int, default=2, metavar="N", help="ranks on this machine (2)")


def run(options):
    worst = set()
    for check in (*CHECKS, lambda: check_ranks(options.n)):
        for finding in check():
            worst.add(finding.level)
            say(spell(finding))
    return 1 if "fail" in worst else 0


def spell(finding):
    """Returns one line, and a second one if there is a remedy."""
    text = wrapped(f"{finding.level:4}  {finding.what:24}{finding.found}")
    if finding.remedy:
        text += "\n" + wrapped(f"      -> {finding.remedy}")
    if has_colours(sys.stdout):
        text = f"\033[{COLOURS[finding.level]}m{text[:4]}\033[0m{text[4:]}"
    return text


def wrapped(line):
    return "\n".join(textwrap.wrap(line, COLUMNS, subsequent_indent=" " * 6, drop_whitespace=True,
                                   break_long_words=False, break_on_hyphens=False))
