"""Installs the missing packages that the build needs; first prints their names
and purposes.

Uses apt-get on Debian and Ubuntu, with sudo if you are not root. On other
systems it prints their names there. It also installs the libraries of the
optional backends, Gloo and Open MPI, if they are available."""

import os
import shutil
import subprocess
import sys

from lab_tool import packages
from lab_tool.building import check_built
from lab_tool.places import BUILD, ROOT, fresh_log
from lab_tool.process import run_logged, spell
from lab_tool.screen import LabError, say

PYTHON_PACKAGES = ROOT / "tests/python_packages.sh"  # a course has none
PAGE = "docs/pages/systems.md"  # has the packages' names on other systems
INSTALL = ["apt-get", "install", "-y", "--no-install-recommends"]


def add_arguments(parser):
    parser.add_argument("--clang", action="store_true", help="also install clang: the preset fuzz "
                        "needs it, and with CXX=clang++ builds with sanitizers are quicker")


def run(options):
    install_missing(clang=options.clang, asks=False)
    return 0


def install_missing(optional=True, clang=False, asks=True):
    """Installs missing packages; if that fails, raises LabError with the command to run. Optional
    packages are left out if `optional` is false, or if they cannot be installed. `asks`: asks first,
    but not in CI, and not if there is no terminal or no apt-get."""
    wanted = [each for each in packages.missing() if optional or not each.optional]
    wanted += packages.missing(packages.CLANG_PACKAGES) if clang else []
    if wanted:
        asks = asks and sys.stdin.isatty() and shutil.which("apt-get") and not os.environ.get("CI")
        install(wanted, asks)
    else:
        say("setup: all packages are installed")
    if optional and PYTHON_PACKAGES.exists() and not (BUILD / "python").exists():
        say("setup: pip installs Python modules for tests; up to a minute (log: build/pip.log)")
        run_logged([PYTHON_PACKAGES], fresh_log("pip"), lambda line: (
            say(f"  {line}") if line.startswith("continuing without") else None))


def install(wanted, asks=False):
    say("missing on this machine:")
    for package in wanted:
        say(f"  {package.name:20} {package.why}")
    names = [package.name for package in wanted]
    try:
        if asks and input("Install them? [Y/n] ").strip().lower() in ("n", "no"):
            raise LabError("nothing was installed; labs/lab setup installs these packages")
        apt_install(names)
    except LabError as error:
        if not all(package.optional for package in wanted):
            raise
        say(f"  continuing without {', '.join(names)}: {error}")


def root_prefix(names):
    """Returns the command prefix that runs apt-get as root; raises LabError if impossible."""
    if not shutil.which("apt-get"):
        rows = [line.strip("| ").split(" | ") for line in (ROOT / PAGE).read_text("utf-8").split("\n")]
        columns = list(zip(*(row for row in rows if row[0] in ("Debian, Ubuntu", *names))))[1:]
        told = "\n".join(f"  {system:12} {' '.join(others)}" for system, *others in columns)
        raise LabError(f"no apt-get here; the packages elsewhere:\n{told}\nwithout root: conda-forge, see {PAGE}")
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo"):
        say("installing with sudo, which may ask for your password")
        if subprocess.run(["sudo", "-v"]).returncode == 0:
            return ["sudo"]
    raise LabError("sudo is missing or refused; as root, run: apt-get update && "
                   f"{spell(INSTALL + names)}\nwithout root: conda-forge, see {PAGE}")


def apt_install(names):
    prefix = root_prefix(names)
    log = fresh_log("setup")
    apt = [*prefix, "env", "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive"]
    say("  " + spell([*prefix, *INSTALL, *names]))
    say("  this may take some minutes (log: build/setup.log)")
    for command in (["apt-get", "update"], [*INSTALL, *names]):
        lines = []
        check_built(" ".join([*command[:2], "failed"]), run_logged([*apt, *command], log, lines.append),
                    lines, log)
