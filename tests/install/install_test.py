"""A build installs into a folder, and a project of its own uses what lies there.

The build is MINI_BUILD_DIR, the compiler CXX. The folder is deleted first: a file that is no longer
installed must not help.
"""

import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = Path(os.environ["MINI_BUILD_DIR"])
CXX = os.environ["CXX"]
INSTALLED = BUILD / "installed"
HAS_CUDASIM = any(BUILD.rglob("libmini_cudasim_driver.a"))
PROJECTS = BUILD / "tests/install"

CUDA_PROJECT = {
    "CMakeLists.txt": """cmake_minimum_required(VERSION 3.25)
        project(cuda LANGUAGES CXX)
        find_package(cudasim 0.2 REQUIRED)
        cudasim_add_executable(add main.cu)
        target_compile_definitions(add PRIVATE THREADS=64)""",
    "main.cu": """#include "add.cuh"
        int main() {
            int* sum;
            cudaMalloc(&sum, sizeof(int));
            cudaMemset(sum, 0, sizeof(int));
            add<<<1, THREADS>>>(sum);
            return cudaDeviceSynchronize();
        }"""}

AUTOGRAD_PROJECT = {
    "CMakeLists.txt": """cmake_minimum_required(VERSION 3.25)
        project(autograd LANGUAGES CXX)
        find_package(libmini 0.2 REQUIRED COMPONENTS autograd)
        add_executable(main main.cpp)
        target_link_libraries(main PRIVATE libmini::autograd)""",
    "main.cpp": """#include "libmini/autograd/functions.hpp"
        int main() { return static_cast<int>(mini::sum(mini::Tensor::full({2}, 1)).item()); }"""}


def run(*command, expect=0, **options):
    """Returns the output of a command; fails the test unless it exits with `expect`."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                          timeout=1000, **options)
    if done.returncode != expect:
        raise AssertionError(f"{command} exited with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def clean_environment():
    """Returns the environment without what would find another libmini, or help the compiler."""
    hidden = ("CMAKE_PREFIX_PATH", "CPATH", "CPLUS_INCLUDE_PATH", "PKG_CONFIG_PATH", "RANK",
              "CXXFLAGS", "LDFLAGS", "CMAKE_CXX_COMPILER_LAUNCHER")
    return {name: value for name, value in os.environ.items() if name not in hidden}


def library_folder():
    (config,) = INSTALLED.rglob("libminiConfig.cmake")
    return config.parents[2]


def example():
    """Returns the installed folder of the project in the folder example."""
    (program,) = INSTALLED.rglob("share/doc/*/example/train.cpp")
    return program.parent


def public_headers():
    """Returns the headers that docs/pages/library.md lists, as an #include names them."""
    page = (ROOT / "docs/pages/library.md").read_text(encoding="utf-8")
    table = page.split("<!-- public headers -->")[1]
    rows = re.findall(r"^\| `libmini::\w+` \|(.+)\|$", table, re.M)
    return [f"libmini/{name}" for row in rows for name in re.findall(r"`([\w/]+\.hpp)`", row)]


def configure(project, build, *options):
    """Configures the project of a folder, beside this file or elsewhere. Returns CMake's output."""
    shutil.rmtree(build, ignore_errors=True)
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    return run("cmake", "-S", HERE / project, "-B", build, *generator,
               f"-DCMAKE_CXX_COMPILER={CXX}", f"-DCMAKE_PREFIX_PATH={INSTALLED}",
               "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *options, env=clean_environment())


def written(name, files):
    """Writes a project into a folder of its own, and returns the folder."""
    project = PROJECTS / name
    shutil.rmtree(project, ignore_errors=True)
    project.mkdir(parents=True)
    for file, text in files.items():
        (project / file).write_text(text, encoding="utf-8")
    return project


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(INSTALLED, ignore_errors=True)
        run("cmake", "--install", BUILD, "--prefix", INSTALLED)

    def check_ranks_agree(self, output):
        """Checks the output of example/train.cpp: two ranks have learned, and count the same."""
        found = re.findall(r"rank (\d) of 2: loss \S+, accuracy (\S+)", output)
        self.assertEqual(sorted(rank for rank, _ in found), ["0", "0", "1", "1"], output)
        last = {rank: float(accuracy) for rank, accuracy in found}
        self.assertEqual(last["0"], last["1"], output)
        self.assertGreater(last["0"], 0.8, output)

    def test_a_cmake_project_builds_with_only_the_prefix_path_and_trains_two_ranks(self):
        build = PROJECTS / "example"
        configure(example(), build)
        run("cmake", "--build", build, env=clean_environment())
        here = {"cwd": build, "env": clean_environment()}
        self.check_ranks_agree(run(build / "train", **here))
        self.check_ranks_agree(run(INSTALLED / "bin/minirun", "-n", 2, build / "train", **here))
        self.assertTrue((build / "digits.safetensors").is_file())

        # The flags that reach the project are those of the public interface.
        commands = (build / "compile_commands.json").read_text(encoding="utf-8")
        self.assertIn("-ffp-contract=off", commands)
        for flag in ("-Werror", "-Wall", "-march", "-O3", "-fuse-ld", "-DMINI", "-DEIGEN",
                     str(ROOT / "libmini")):
            self.assertNotIn(flag, commands)

    @unittest.skipUnless(shutil.which("pkg-config"), "pkg-config is not installed")
    def test_pkg_config_builds_the_same_program(self):
        environment = clean_environment() | {"PKG_CONFIG_PATH": str(library_folder() / "pkgconfig")}
        self.assertEqual(run("pkg-config", "--modversion", "libmini", env=environment).strip(),
                         re.search(r"VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()
                                   .split("project(")[1])[1])
        flags = run("pkg-config", "--cflags", "--libs", "libmini", env=environment).split()
        program = PROJECTS / "train_by_pkg_config"
        program.parent.mkdir(parents=True, exist_ok=True)
        run(CXX, "-std=c++20", example() / "train.cpp", "-o", program, *flags, env=environment)
        self.check_ranks_agree(run(program, cwd=program.parent, env=environment))

    @unittest.skipUnless(HAS_CUDASIM, "the build has no simulator of CUDA")
    def test_a_cuda_program_is_built_and_checked_with_only_the_simulator(self):
        project, environment = written("cuda", CUDA_PROJECT), clean_environment()
        configure(project, project / "build")
        for added, code in (("*sum += threadIdx.x", 1), ("atomicAdd(sum, threadIdx.x)", 0)):
            (project / "add.cuh").write_text(f"__global__ void add(int* sum) {{ {added}; }}\n", encoding="utf-8")
            run("cmake", "--build", project / "build", env=environment)
            output = run(project / "build/add", expect=code, env=environment | {"MINI_SIM_CHECK": "1"})
            self.assertEqual("race: add, block (0, 0, 0), thread (1, 0, 0)" in output, code == 1, output)
        self.assertNotIn("mini cuda", run("cmake", "--build", project / "build", env=environment))

        mini = (INSTALLED / "bin/mini", "cuda", "-DTHREADS=4")
        run(*mini, "--check", project / "main.cu", env=environment)
        environment["PKG_CONFIG_PATH"] = str(library_folder() / "pkgconfig")
        run(*mini, "-c", "main.cu", "-o", "main.o", cwd=project, env=environment)
        flags = run("pkg-config", "--cflags", "--libs", "cudasim", env=environment).split()
        run(CXX, "main.o", "-o", "main", *flags, cwd=project, env=environment)
        run(project / "main", env=environment)

    def test_find_package_names_the_remedy_for_what_the_build_lacks(self):
        requests = {
            "0.2": "1", "0.2 COMPONENTS training": "1", "0.1": "0", "0.3": "0",
            "0.2 COMPONENTS jpeg": "0 libmini has no component jpeg; it has core;random;",
            "0.2 OPTIONAL_COMPONENTS jpeg": "1",
        }
        output = configure("components", PROJECTS / "components",
                           "-DREQUESTS=" + ";".join([*requests, "0.2 COMPONENTS nccl"]))
        for request, answer in requests.items():
            self.assertIn(f"-- {request}: {answer}", output)
        self.assertRegex(output, "COMPONENTS nccl: (1|0 this libmini was built without nccl: "
                                 "install CUDA and NCCL and configure libmini with)")

    def test_only_a_program_with_extras_needs_the_libraries_of_the_backends(self):
        absent = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("Gloo", "MPI")]
        project = written("autograd", AUTOGRAD_PROJECT)
        configure(project, project / "build", *absent)
        run("cmake", "--build", project / "build", env=clean_environment())
        run(project / "build/main", expect=2)

        asks = "0.2 COMPONENTS extras"
        output = configure("components", PROJECTS / "components", f"-DREQUESTS={asks}", *absent)
        targets = (library_folder() / "cmake/libmini/libminiTargets.cmake").read_text(encoding="utf-8")
        missing = re.search("::detail::(gloo|mpi)_library", targets)
        self.assertIn(f"{asks}: 0 libmini could not be found because" if missing else f"{asks}: 1", output)

    def test_the_public_headers_compile_from_the_prefix(self):
        """Each alone compiles in the source tree, as tests/architecture checks."""
        headers = public_headers()
        self.assertGreater(len(headers), 50)
        source = PROJECTS / "headers.cpp"
        source.write_text("".join(f'#include "{name}"\n' for name in headers), encoding="utf-8")
        run(CXX, "-std=c++20", "-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror",
            "-I", INSTALLED / "include", "-fsyntax-only", source)

        # libmini.hpp includes them, except those of training and extras.
        source.write_text('#include "libmini/libmini.hpp"\n', encoding="utf-8")
        found = run(CXX, "-std=c++20", "-I", INSTALLED / "include", "-MM", source)
        self.assertEqual([name for name in headers if name not in found],
                         [name for name in headers if re.match("libmini/(training|extras)", name)])

    def test_the_installed_programs_run(self):
        self.assertRegex(run(INSTALLED / "bin/mini", "--version"), r"^mini \d+\.\d+\.\d+\n$")
        hello = run(INSTALLED / "bin/minirun", "-n", 2, "--no-prefix", "echo", "hello")
        self.assertEqual(hello, "hello\nhello\n")
