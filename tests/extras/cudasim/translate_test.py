"""What `mini cuda` rewrites, and what it leaves; when its header is precompiled again.

    python3 tests/extras/cudasim/translate_test.py
"""

import os
import re
import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "libmini/extras/cudasim/driver"))
from mini_cuda import SIMULATOR, Compiler  # noqa: E402
from translate import translate  # noqa: E402


def translated(text):
    return translate(text, lambda name, is_quoted: "/tmp/1_sum.cuh" if name == "sum.cuh" else None)


def launch_of(name):
    return (f"::mini::cuda::mini_kernel([&](auto mini_take) -> decltype(mini_take({name})) {{ return "
            f"mini_take({name}); }}, [=](auto... mini_values) MINI_UNCHECKED {{ {name}(mini_values...); }}, "
            f"MINI_TEXT({name}))")


def variable_of(first, name, where=""):
    return (f"static {first}; {where}decltype({name}_first)& {name} MINI_PLACE = "
            f"::mini::cuda::device_variable({name}_first)")


SHARED = " = ::mini::cuda::dynamic_shared()"
TABLE = [
    ("k<<<g, b>>>(x);", launch_of("k") + "(::mini::cuda::Config(g, b))(x);"),
    ("ns::k<T, f<2>><<<dim3(g(1), 2), b, n * sizeof(T), s>>>(x);",
     launch_of("ns::k<T, f<2>>") + "(::mini::cuda::Config(dim3(g(1), 2), b, n * sizeof(T), s))(x);"),
    ("(*k[i])<<<1, f<h<2>>(3)>>>();", launch_of("(*k[i])") + "(::mini::cuda::Config(1, f<h<2>>(3)))();"),
    ("cudaLaunchKernel((const void*)k<1>, g);", "cudaLaunchKernel( k<1>, g);"),
    ("cudaLaunchCooperativeKernel(k, g);", "cudaLaunchCooperativeKernel(k, g);"),
    ("if (n) k<<<1, 2>>>(); // k<<<1, 2>>>()",
     "if (n) " + launch_of("k") + "(::mini::cuda::Config(1, 2))(); // k<<<1, 2>>>()"),
    ("#define RUN(k) \\\n    k<<<1, \\\n 2>>>()",
     "#define RUN(k) \\\n    " + launch_of("k") + "(::mini::cuda::Config(1, \\\n 2))()"),
    ("int i = threadIdx.x; dim3 blockDim(2), b = gridDim;",
     "int i = ::mini::cuda::at(threadIdx).x; dim3 blockDim(2), b = gridDim;"),
    ("p.blockDim.x + s::gridDim.x", "p.blockDim.x + s::gridDim.x"),
    ("{ extern __shared__ T s[]; }", "{ T (&s)[]" + SHARED + "; }"),
    ("{ extern float __shared__ s[]; }", "{ float (&s)[]" + SHARED + "; }"),
    ("{ extern volatile __shared__ __align__(16) float s[][4]; }", "{ volatile float (&s)[][4]" + SHARED + "; }"),
    ("extern __shared__ int s[]; int f() { return s[1]; }",
     "; int f() { return (*reinterpret_cast< int(*)[]>(::mini::sim::dynamic_shared()))[1]; }"),
    ("__device__ int n;", variable_of("int n_first", "n") + ";"),
    ("static __constant__ float k[2]\n = {1, 2}; int m;",
     variable_of("float k_first[2] = {1, 2}", "k", "static ") + "\n ; int m;"),
    ("__device__ float f(float x);", "__device__ float f(float x);"),
    ("__device__ int a, b[2];", variable_of("int a_first", "a") + "; " + variable_of("int b_first[2]", "b") + ";"),
    ("__device__ const int n = 3;", "__device__ const int n = 3;"),
    ("__constant__ constexpr int n = 3;", "__constant__ constexpr int n = 3;"),
    ("auto f = [=] __device__(int i) { return i; };", "auto f = [=] __device__(int i) { return i; };"),
    ("__host__ __device__ struct S { int x; };", "__host__ __device__ struct S { int x; };"),
    ("static __forceinline__ __device__ int f();", "static inline __device__ int f();"),
    ("__forceinline__ inline int f();", " inline int f();"),
    ("__noinline__ int f(); __attribute__((__noinline__)) int g();",
     "__attribute__((noinline)) int f(); __attribute__((__noinline__)) int g();"),
    ("#include \"sum.cuh\"\n#include <vector>", "#include \"/tmp/1_sum.cuh\"\n#include <vector>"),
    ("R\"(k<<<1, 2>>>())\" '\"' \"k<<<1>>>\" 1'000 << 2;", "R\"(k<<<1, 2>>>())\" '\"' \"k<<<1>>>\" 1'000 << 2;"),
]


class TranslateTest(unittest.TestCase):
    def test_what_cuda_cpp_adds_is_rewritten(self):
        def squeezed(text):  # one space in place of several, none before the end of a declaration
            return re.sub(" +(\n|;|$)", r"\1", re.sub("  +", " ", text)).strip(" ")

        for cuda, cpp in TABLE:
            with self.subTest(cuda):
                self.assertEqual(squeezed(translated(cuda)), squeezed(cpp))

    def test_a_translation_has_the_lines_of_its_text_even_of_a_part_of_it(self):
        text = ("__device__ int\n  n = 3,\n /* two\n lines */ m;\nextern __shared__ int s\n[];\n"
                "int main() {\n  k<int,\n 2>\n<<<1,\n 2>>>\n(n);\n int i = s[0];\n}\n")
        for end in range(len(text) + 1):
            with self.subTest(text[:end]):
                self.assertEqual(translated(text[:end]).count("\n"), text[:end].count("\n"))


class Precompiled(unittest.TestCase):
    def test_a_header_of_the_simulator_or_of_core_that_changed_is_precompiled_again(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(
                os.environ, CXX="sh -c 'for last; do :; done; touch $last' sh", MINI_CUDA_CACHE=folder):
            headers = [Path(folder) / name / "some.hpp" for name in (SIMULATOR, "libmini/core")]
            made = []
            for changed in (headers, [], *([header] for header in headers)):
                for header in changed:
                    header.parent.mkdir(parents=True, exist_ok=True)
                    header.write_text(f"{len(made)}\n")
                    os.utime(header, (len(made), len(made)))
                compiler = Compiler(folder, "", "", "", SimpleNamespace(others=[], fast=True))
                made.append(compiler.precompiled()[1])
            self.assertEqual([made.index(each) for each in made], [0, 0, 2, 3])


if __name__ == "__main__":
    unittest.main()
