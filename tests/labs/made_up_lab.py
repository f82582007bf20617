"""A made-up lab with kernels. The lab is built for the simulator, with libmini's own CMake modules
(libmini/cmake).

    half.cu       [lab06.1]           half(x) = x / 2
    twice.cu      [lab06.2]           twice(x) = x * 2
    quarter.cu    a file of the library: quarter(x) = half(half(x))
    one.cpp       [lab06.3]           one(x) = x + 1; compiled in one batch with
    two.cpp       [lab06.3]           two(x) = x + 2, and Step's first virtual function
    part.cpp      a file of the library that calls none of these functions
"""

import shutil
from pathlib import Path

from fake_tree import FakeTree
from lab_tool.catalogue import Catalogue
from lab_tool.workspace import Workspace

ROOT = Path(__file__).resolve().parents[2]


def adding(name, number):
    """Returns a source of task 06.3 whose function returns x + number."""
    return f"""\
#include "libmini/kernels/kernels.hpp"
#include "libmini/core/error.hpp"
int {name}(int x) {{
    int y = 0;
    // [lab06.3] Add {number}.
    y = x + {number};
    // [lab06.3]
    return y;
}}
"""


FILES = {
    "CMakeLists.txt": """\
cmake_minimum_required(VERSION 3.25)
project(made_up LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(MINI_TESTS ON)
list(APPEND CMAKE_MODULE_PATH ${CMAKE_SOURCE_DIR}/libmini/cmake)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
include(MiniExtras)
include(MiniCuda)
include(MiniRegions)
include(MiniFlags)
include(MiniOverlay)
include(MiniLabCheck)
add_library(mini_test_main INTERFACE)
add_subdirectory(libmini/kernels)
add_subdirectory(labs/06-kernels)
mini_overlay(work ${MINI_WORK})
mini_overlay(check06 ${PROJECT_SOURCE_DIR}/build/mine/06 mini_checked)
mini_overlay(schemata ${PROJECT_SOURCE_DIR}/build/schemata mini_checked)
""",
    "CMakePresets.json": """\
{"version": 6,
 "configurePresets": [{"name": "release", "generator": "Ninja",
   "binaryDir": "${sourceDir}/build/release",
   "cacheVariables": {"MINI_CUDA": "SIM"}}],
 "buildPresets": [{"name": "release", "configurePreset": "release"}]}
""",
    "libmini/extras/cudasim/include/cuda_runtime.h": "#define __device__\n",
    "libmini/extras/cudasim/checked_options.txt": "all -fsanitize=thread\n",
    "libmini/kernels/CMakeLists.txt": """\
mini_component(kernels SOURCES part.cpp other.cpp one.cpp two.cpp NEEDS)
set(kernels half.cu twice.cu quarter.cu)
list(TRANSFORM kernels PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
mini_simulated_kernels(mini_kernels ${kernels})
set_property(GLOBAL APPEND PROPERTY MINI_COMPONENT_SOURCES ${kernels})
mini_sort_into_batches(mini_kernels 16)
""",
    # Kernels are compiled with the thread sanitizer's instrumentation, which calls these functions.
    "libmini/kernels/part.cpp": """\
extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
}
""",
    "libmini/kernels/other.cpp": "int other() { return 1; }\n",
    "libmini/core/error.hpp": """\
#pragma once
#include <stdexcept>
#define MINI_TODO(task, title) throw std::runtime_error("[" task "] not started: " title)
""",
    "libmini/kernels/half.cu": """\
#include "libmini/kernels/kernels.hpp"
#include "libmini/core/error.hpp"
int half(int x) {
    int y = 0;
    // [lab06.1] Halve.
    y = x / 2;
    // [lab06.1]
    return y;
}
""",
    "libmini/kernels/twice.cu": """\
#include <cuda_runtime.h>
#include "libmini/kernels/kernels.hpp"
#include "libmini/core/error.hpp"
__device__ int twice(int x) {
    int y = 0;
    // [lab06.2] Double.
    y = x * 2;
    // [lab06.2]
    return y;
}
""",
    "libmini/kernels/quarter.cu": """\
#include "libmini/kernels/kernels.hpp"
int quarter(int x) { return half(half(x)); }
""",
    "libmini/kernels/one.cpp": adding("one", 1),
    "libmini/kernels/two.cpp": adding("two", 2) + "int Step::by(int x) { return two(x); }\n",
    "libmini/kernels/kernels.hpp": """\
#pragma once
int twice(int x);
int half(int x);
int quarter(int x);
int one(int x);
int two(int x);
struct Step {
    virtual int by(int x);
    virtual int of(int x) { return x; }
    virtual ~Step() = default;
};
""",
    "labs/06-kernels/CMakeLists.txt": """\
mini_program(show MINE SOURCES test.cpp NEEDS mini_kernels)
mini_lab_check(06 test.cpp NEEDS mini_kernels)
""",
    "labs/06-kernels/test.cpp": """\
#include <cstdio>
#include <exception>
#include "libmini/kernels/kernels.hpp"
int main() {
    try {
        Step step;
        const int results[] = {half(step.of(80)), twice(80), quarter(80), one(80),
                               two(80)};  // in this order
        std::printf("half %d twice %d quarter %d one %d two %d\\n", results[0], results[1],
                    results[2], results[3], results[4]);
    } catch (const std::exception& error) {
        std::printf("%s\\n", error.what());
    }
}
""",
    "labs/check/watch.cpp": "int watched = 1;\n",
    "tests/mutants/lab06.1.diff": "@@ less: It subtracts one.\n-...\n+    y = x - 1;\n",
    "tests/mutants/lab06.2.diff": "@@ more: It adds one.\n-...\n+    y = x + 1;\n",
    "tests/mutants/lab06.3.diff": "@@ none: It adds nothing.\n-    y = x + 2;\n+    y = x;\n",
}


class MadeUpLab(FakeTree):
    def setUp(self):
        super().setUp()
        for folder in ("libmini", "labs", "tests"):
            shutil.rmtree(self.root / folder)
        for folder in ("libmini/cmake", "labs/lab_tool"):
            shutil.copytree(ROOT / folder, self.root / folder,
                            ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("schemata.cpp", "schemata.hpp"):
            self.write(f"labs/check/{name}", (ROOT / "labs/check" / name).read_text())
        for path, text in FILES.items():
            self.write(path, text)
        self.write_lab("06-kernels", "Kernels", ["06.1", "06.2", "06.3"])
        self.work = Workspace(Catalogue(self.root))
        self.lab = self.work.catalogue.lab("6")
