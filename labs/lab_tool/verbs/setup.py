"""Installs the missing packages that the build needs; first prints their names
and purposes.

Uses apt-get on Debian and Ubuntu, with sudo if you are not root. On other
systems it only prints the missing packages. If no package is missing, it
changes nothing. It also installs the libraries of the optional backends, Gloo
and Open MPI, if they are available: all other code works without them.
"""

import os
import shutil
import subprocess
import sys
import time

from lab_tool import packages
from lab_tool.places import fresh_log, shown
from lab_tool.process import check_logged, spell
from lab_tool.screen import LabError, say

INSTALL = ["apt-get", "install", "-y", "--no-install-recommends"]


def add_arguments(parser):
    parser.add_argument(
        "--clang", action="store_true",
        help="also install clang: the preset fuzz needs it, and with CXX=clang++ builds with "
        "sanitizers are quicker"
    )


def run(options):
    install_missing(clang=options.clang)
    return 0


def install_missing(optional=True, clang=False):
    """Installs missing packages; if that fails, raises LabError with the command to run.

    Optional packages are left out if `optional` is false or they cannot be installed. `clang`:
    also install CLANG_PACKAGES."""
    wanted = packages.missing() if optional else packages.required(packages.missing())
    if clang:
        wanted = wanted + packages.missing(packages.CLANG_PACKAGES)
    if wanted:
        install(wanted)
    else:
        say("setup: all packages are installed")
    if optional:
        install_python_packages()
    check_versions()


def install(wanted):
    say("missing on this machine:")
    for package in wanted:
        say(f"  {package.name:20} {package.why}")
    names = [package.name for package in wanted]
    try:
        apt_install(names)
    except LabError as error:
        if packages.required(wanted):
            raise
        say(f"  continuing without {', '.join(names)}: {error}")


def install_python_packages():
    """Installs the Python packages of some tests into build/; continues if that fails."""
    names = packages.missing_python()
    if not names:
        return
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check",
               "--no-deps", "--target", str(packages.PYTHON_FOLDER), *names]
    try:
        check_logged("pip install", command, fresh_log("pip"))
        say(f"  Python: {', '.join(names)} in {shown(packages.PYTHON_FOLDER)}")
    except LabError:
        say(f"  continuing without Python's {', '.join(names)}: tests will be skipped")


def check_versions():
    for package in packages.PACKAGES:
        found = packages.too_old(package)
        if found:
            raise LabError(f"{found[0]} is {found[1]}, but libmini needs "
                           f"{packages.dotted(package.oldest)} or newer; Debian 12 and 13 have it")


def root_prefix(names):
    """Returns the command prefix that runs apt-get as root; raises LabError if impossible."""
    by_hand = "apt-get update && " + spell(INSTALL + names)
    if not shutil.which("apt-get"):
        raise LabError(
            "no apt-get here: install the packages above; their names on your system may differ"
        )
    if os.geteuid() == 0:
        return []
    if not shutil.which("sudo"):
        raise LabError(f"installing needs root, and sudo is missing; as root, run: {by_hand}")
    say("installing with sudo, which may ask for your password")
    if subprocess.run(["sudo", "-v"]).returncode != 0:
        raise LabError(f"sudo refused; as root, run: {by_hand}")
    return ["sudo"]


def apt_install(names):
    prefix = root_prefix(names)
    log = fresh_log("setup")
    env = {**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
    apt = [*prefix, "env", "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive"]
    say("  " + spell([*prefix, *INSTALL, *names]))
    say("  this may take some minutes (log: build/setup.log)")
    start = time.monotonic()
    check_logged("apt-get update", [*apt, "apt-get", "update"], log, env=env)
    check_logged("apt-get install", [*apt, *INSTALL, *names], log, env=env)
    say(f"  installed in {time.monotonic() - start:.0f} s")
