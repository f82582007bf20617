"""The system packages that the build needs, what each is for, and how to detect it."""

import glob
import os
import shutil
from dataclasses import dataclass

INCLUDE_DIRS = ("/usr/include", "/usr/local/include")


@dataclass(frozen=True)
class Package:
    name: str  # in Debian and Ubuntu
    why: str
    # The package is present if any of these is a command in PATH, a header in an include folder, or
    # an absolute path that exists; may have wildcards.
    files: tuple = ()
    optional: bool = False  # without it the build works, and most tests run


PACKAGES = (
    Package("g++", "compiles libmini, which is C++20 (12 or newer)", files=("g++", "c++")),
    Package("cmake", "configures the build (3.25 or newer)", files=("cmake",)),
    Package("ninja-build", "runs the build", files=("ninja",)),
    Package("lld", "links faster", files=("ld.lld", "mold"), optional=True),
    Package("git", "exports a course, names a submission's version", files=("git",), optional=True),
    Package("libeigen3-dev", "matrix products on the CPU", files=("eigen3/Eigen/Core",)),
    Package("libfmt-dev", "formats text", files=("fmt/core.h",)),
    Package("libcli11-dev", "reads command lines", files=("CLI/CLI.hpp",)),
    Package("nlohmann-json3-dev", "reads and writes JSON", files=("nlohmann/json.hpp",)),
    Package("libboost-context-dev", "fibers: threads of the simulated GPU",
            files=("boost/context/fiber.hpp",)),
    Package("zlib1g-dev", "reads .gz data files", files=("zlib.h",)),
    Package("libstb-dev", "reads PNG and JPEG images", files=("stb/stb_image.h",)),
    Package("libssl-dev", "SHA-256 of parameters", files=("openssl/evp.h",)),
    Package("catch2", "the tests", files=("catch2/catch.hpp", "catch2/catch_all.hpp")),
    Package("ca-certificates", "https, to fetch MNIST",
            files=("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt")),
    Package("libgloo-dev", "backend gloo", files=("gloo/config.h",), optional=True),
    Package("libopenmpi-dev", "backend mpi", files=("mpicxx", "mpic++"), optional=True),
    Package("openmpi-bin", "runs its ranks", files=("mpirun",), optional=True),
    Package("libthrust-dev", "Thrust for mini cuda", files=("/usr/include/thrust",), optional=True),
    Package("doxygen", "builds the site", files=("doxygen",), optional=True),
    Package("graphviz", "the site's diagrams", files=("dot",), optional=True),
    Package("doxygen-awesome-css", "the site's look", optional=True,
            files=("/usr/share/doxygen-awesome-css/doxygen-awesome.css",)),
    Package("chromium-headless-shell", "reads the site and a run report, for tests", optional=True,
            files=("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")),
    Package("python3-pip", "for tests/python_packages.sh, which brings modules that tests use",
            files=("pip3", "pip"), optional=True),
)

# The additional packages of the preset fuzz and of tests with sanitizers that are built by clang.
CLANG_PACKAGES = (
    Package("clang", "compiles with libFuzzer, and with sanitizers faster than GCC",
            files=("clang++",)),
    Package("libclang-rt-dev", "libFuzzer and clang's sanitizers",
            files=("/usr/lib/llvm-*/lib/clang/*/lib/*/libclang_rt.fuzzer*.a",)),
)


def is_present(package):
    folders = [*INCLUDE_DIRS, *filter(None, os.environ.get("CPATH", "").split(":"))]
    return any(shutil.which(file) or any(glob.glob(os.path.join(folder, file)) for folder in folders)
               for file in package.files)


def missing(some=PACKAGES):
    return [package for package in some if not is_present(package)]
