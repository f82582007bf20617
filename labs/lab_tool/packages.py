"""The system packages that the build needs, what each is for, and how to detect it."""

import glob
import importlib.util
import os
import re
import shutil
from dataclasses import dataclass

from lab_tool.places import BUILD
from lab_tool.process import output_of

INCLUDE_DIRS = ("/usr/include", "/usr/local/include")


@dataclass(frozen=True)
class Package:
    name: str  # in Debian and Ubuntu
    why: str
    commands: tuple = ()  # the package is present if any of these is in PATH
    headers: tuple = ()  # or any of these is in an include folder
    files: tuple = ()  # or any of these exists; may have wildcards
    oldest: tuple = ()  # minimum version of the command
    optional: bool = False  # without it the build works, and most tests run


PACKAGES = (
    Package("g++", "compiles libmini, which is C++20", commands=("g++", "c++"), oldest=(12,)),
    Package("cmake", "configures the build (3.25 or newer)", commands=("cmake",), oldest=(3, 25)),
    Package("ninja-build", "runs the build", commands=("ninja",)),
    Package("lld", "links faster", commands=("ld.lld", "mold"), optional=True),
    Package("git", "exports a course, and names the version in a submission", commands=("git",),
            optional=True),
    Package("libeigen3-dev", "matrix products on the CPU", headers=("eigen3/Eigen/Core",)),
    Package("libfmt-dev", "formats text", headers=("fmt/core.h",)),
    Package("libcli11-dev", "reads command lines", headers=("CLI/CLI.hpp",)),
    Package("nlohmann-json3-dev", "reads and writes JSON", headers=("nlohmann/json.hpp",)),
    Package("libboost-context-dev", "fibers: threads of the simulated GPU",
            headers=("boost/context/fiber.hpp",)),
    Package("zlib1g-dev", "reads .gz data files", headers=("zlib.h",)),
    Package("libstb-dev", "reads PNG and JPEG images", headers=("stb/stb_image.h",)),
    Package("libssl-dev", "SHA-256 of parameters", headers=("openssl/evp.h",)),
    Package("catch2", "the tests", headers=("catch2/catch.hpp", "catch2/catch_all.hpp")),
    Package("ca-certificates", "https, to fetch MNIST",
            files=("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt")),
    Package("libgloo-dev", "backend gloo", headers=("gloo/config.h",), optional=True),
    Package("libopenmpi-dev", "backend mpi", commands=("mpicxx", "mpic++"), optional=True),
    Package("openmpi-bin", "runs its ranks", commands=("mpirun",), optional=True),
    Package("doxygen", "builds the site", commands=("doxygen",), optional=True),
    Package("graphviz", "the site's diagrams", commands=("dot",), optional=True),
    Package("doxygen-awesome-css", "the site's look", optional=True,
            files=("/usr/share/doxygen-awesome-css/doxygen-awesome.css",)),
    Package("chromium-headless-shell", "reads the site and a run report, for tests", optional=True,
            commands=("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")),
    Package("python3-pip", "brings Python's safetensors and TensorBoard, for tests", optional=True,
            commands=("pip3", "pip")),
)

# The additional packages of the preset fuzz and of tests with sanitizers that are built by clang.
CLANG_PACKAGES = (
    Package("clang", "compiles with libFuzzer, and with sanitizers faster than GCC",
            commands=("clang++",)),
    Package("libclang-rt-dev", "libFuzzer and clang's sanitizers",
            files=("/usr/lib/llvm-*/lib/clang/*/lib/*/libclang_rt.fuzzer*.a",)),
)

# Optional, into PYTHON_FOLDER: modules that tests import, each with the packages for it. Of
# TensorBoard only the reader of event files is used; the whole has 160 MB.
PYTHON_PACKAGES = {
    "safetensors": ("safetensors",),
    "tensorboard": ("tensorboard", "protobuf", "numpy", "absl-py"),
}
PYTHON_FOLDER = BUILD / "python"


def version_in(text):
    """Returns the first dotted number in `text` as a tuple: (3, 25, 1)."""
    found = re.search(r"\d+(\.\d+)+", text or "")
    return tuple(int(part) for part in found.group().split(".")) if found else ()


def dotted(version):
    return ".".join(str(part) for part in version)


def find_command(package):
    """Returns the path of the package's command, or None."""
    return next(filter(None, map(shutil.which, package.commands)), None)


def too_old(package):
    """Returns the version of the package's command if it is too old, else None."""
    command = find_command(package)
    if not command or not package.oldest:
        return None
    version = version_in(output_of([command, "--version"]))
    return version if version and version < package.oldest else None


def is_present(package):
    folders = [*INCLUDE_DIRS, *filter(None, os.environ.get("CPATH", "").split(":"))]
    return bool(find_command(package)
                or any(os.path.exists(f"{folder}/{header}")
                       for folder in folders for header in package.headers)
                or any(map(glob.glob, package.files)))


def missing(some=PACKAGES):
    return [package for package in some if not is_present(package)]


def missing_python():
    """Returns the packages of the modules that are neither in this Python nor in PYTHON_FOLDER."""
    return [name for module, names in PYTHON_PACKAGES.items() for name in names
            if not importlib.util.find_spec(module) and not (PYTHON_FOLDER / module).exists()]


def required(some):
    return [package for package in some if not package.optional]
