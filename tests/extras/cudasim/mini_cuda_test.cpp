// `mini cuda` as a user calls it: files of programs/ are compiled, run and checked.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "tests/support/answer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/read_file.hpp"

namespace mini::sim {
namespace {

using test::Answer;
using test::contains;
using test::run_shell;

// Runs `mini cuda` in programs/, by default with the build's compiler.
Answer mini_cuda(const std::string& arguments, const std::string& compiler = "") {
    return run_shell(concat("cd ", MINI_PROGRAMS_DIR, " && CXX=", compiler, " ",
                            MINI_BIN_DIR, "/mini cuda ", arguments));
}

bool is_installed(const std::string& compiler) {
    return run_shell(compiler + " --version").code == 0;
}
// Generates the compilers that mini cuda supports; "" for one that is not installed.
std::string a_compiler() {
    const std::string compiler = GENERATE("g++", "clang++");
    return is_installed(compiler) ? compiler : "";
}

TEST_CASE("mini cuda: the language and the runtime of plain programs") {
    const test::Folder folder;
    const std::string program = folder / "language";
    REQUIRE(mini_cuda("language.cu -arch=sm_80 --use_fast_math -lcublas -o " + program)
                .text == "");
    const Answer plain = run_shell(program);
    CHECK(plain.text == "0 failures\n");
    CHECK(plain.code == 0);
    // The last launch is refused on purpose.
    const Answer checked = run_shell("MINI_SIM_CHECK=1 " + program);
    CHECK(std::regex_match(
        checked.text,
        std::regex("0 failures\nlaunch refused: .*language.cu:[0-9]+\n"
                   "    add\\(.*\\) was not launched: the grid or block dimensions are "
                   "invalid\nMINI_SIM_CHECK: 1 mistake\n")));
    CHECK(checked.code == 1);
}

// Checks a program of programs/, if the compiler is installed.
void check_program(const std::string& file, const std::string& compiler) {
    if (!is_installed(compiler)) return;
    CHECK(mini_cuda("--check " + file, compiler).text == "0 failures\n");
}
TEST_CASE("mini cuda: half, g++") { check_program("half.cu", "g++"); }
TEST_CASE("mini cuda: half, clang++") { check_program("half.cu", "clang++"); }
TEST_CASE("mini cuda: libraries, g++") { check_program("libraries.cu", "g++"); }
TEST_CASE("mini cuda: libraries, clang++") { check_program("libraries.cu", "clang++"); }
TEST_CASE("mini cuda: textures, g++") { check_program("textures.cu", "g++"); }
TEST_CASE("mini cuda: textures, clang++") { check_program("textures.cu", "clang++"); }

// Returns what `mini cuda` says of a file with this text.
Answer mini_cuda_of(const std::string& text, const std::string& options,
                    const std::string& compiler = "") {
    const test::Folder folder;
    std::ofstream(folder / "it.cu") << text;
    return run_shell(concat("cd ", folder.path(), " && CXX=", compiler, " ", MINI_BIN_DIR,
                            "/mini cuda ", options, " it.cu"));
}

TEST_CASE("one of several processes precompiles the simulator's header for all") {
    if (!is_installed("g++")) return;
    const test::Folder folder;
    std::ofstream(folder / "compiler")
        << "#!/bin/sh\ncase \"$*\" in *c++-header*) echo >>" << folder / "made"
        << ";; esac; g++ \"$@\"\n";
    std::ofstream(folder / "it.cu") << "int main() { puts(\"right\"); }\n";
    const Answer all =
        run_shell(concat("cd ", folder.path(),
                         " && chmod +x compiler && export CXX=$PWD/compiler "
                         "MINI_CUDA_CACHE=$PWD && for i in 1 2 3; do ",
                         MINI_BIN_DIR, "/mini cuda --run -O0 it.cu & done; wait"));
    CHECK(all.text == "right\nright\nright\n");
    CHECK(test::read_file(folder / "made") == "\n");
}

TEST_CASE("mini cuda --count prints each kernel's traffic and its worst line") {
    const Answer result = mini_cuda_of(
        "__global__ void copy(float* to, const float* from) {\n"
        "  to[threadIdx.x] = from[8 * threadIdx.x]; }\n"
        "int main() { float *a, *b; cudaMalloc(&a, 4096); cudaMalloc(&b, 4096);\n"
        "  for (int i = 0; i < 2; ++i) copy<<<1, 64>>>(a, b); cudaDeviceSynchronize(); "
        "}\n",
        "--count");
    CHECK(
        result.text ==
        "2 times copy, 1 blocks of 64 threads\n"
        "    loads 2 instructions, 64 sectors, 12 % used; stores 2 instructions, 8 "
        "sectors, 100 % used\n"
        "    it.cu:2 loads, global memory: 64 sectors of 32 bytes; 8 would hold the "
        "data\n"
        "        worst: block 0, threads 0 to 31: 32 sectors of 32 bytes; 4 would hold "
        "the data\n"
        "        thread 0 at byte 0, thread 1 at byte 32, thread 2 at byte 64, thread 3 "
        "at byte 96, ...\n");
    CHECK(result.code == 0);
}

TEST_CASE(
    "findings name the lines of copies and allocations, even if a signal ends the "
    "program") {
    const std::string end =
        GENERATE("abort()", "raise(SIGTERM)", "*(volatile int*)8 = 1");
    CAPTURE(end);
    const Answer result = mini_cuda_of(
        "#include <signal.h>\n"
        "__global__ void k(int* a) { a[8 + threadIdx.x] = 1; }\n"
        "int main() { int *a, *b, host[8]; cudaStream_t s; cudaStreamCreate(&s);\n"
        "  cudaMalloc(&a, 32);\n"
        "  k<<<1, 1>>>(a);\n"
        "  cudaMallocHost(&b, 32);\n"
        "  cudaMemcpyAsync(a, b, 32, cudaMemcpyHostToDevice, s);\n"
        "  b[0] = 1;\n"
        "  cudaDeviceSynchronize(); " +
            end + "; }\n",
        "--check");
    CHECK(contains(
        result.text,
        "out of bounds: k, block (0, 0, 0), thread (0, 0, 0), it.cu:2\n    writes 4 "
        "bytes at byte 32 of allocation 1, made at it.cu:4, which has 32 bytes\n"));
    CHECK(contains(result.text, "missing synchronisation: it.cu:8\n"));
    CHECK(contains(result.text, "the other: a copy, it.cu:7\n"));
    CHECK(contains(result.text, "MINI_SIM_CHECK: 2 mistakes"));
    CHECK(result.code > 128);
}

TEST_CASE("findings name a template kernel, even if a launch converts its arguments") {
    const std::string compiler = a_compiler();
    if (compiler.empty()) return;
    const Answer result = mini_cuda_of(
        "namespace n { template <typename T, typename F>\n"
        "__global__ void fill(T* x, size_t i, F f) { x[i] = f(1); } }\n"
        "#define RUN(kernel, blocks) kernel<<<blocks, 1>>>(x, 8, f)\n"
        "int main() { int* x; cudaMalloc(&x, 32); auto f = [] __device__ (int i) { "
        "return i; };\n"
        "  RUN(n::fill, 1); RUN(n::fill<int>, 0); cudaDeviceSynchronize(); }\n",
        "--check", compiler);
    CHECK(contains(result.text,
                   "out of bounds: fill, block (0, 0, 0), thread (0, 0, 0), it.cu:2"));
    CHECK(contains(result.text, "    n::fill<int> was not launched: "));
    CHECK(contains(result.text, "MINI_SIM_CHECK: 2 mistakes"));
}

TEST_CASE("mini cuda --seeds names the order of blocks in which a mistake shows") {
    const Answer result = mini_cuda_of(
        "__global__ void k(int* a) { if (blockIdx.x == 0) a[1] = 1; else a[0] = a[1]; }\n"
        "int main() { int* a; cudaMalloc(&a, 8); k<<<2, 1>>>(a); }\n",
        "--seeds 20");
    CHECK(contains(result.text, "it.cu:1"));
    CHECK(contains(result.text, "mini cuda: ended at order "));
    CHECK(result.code == 1);
    // Without a mistake, the program's output shows once.
    CHECK(mini_cuda_of("int main() { puts(\"right\"); }\n", "--seeds 3").text ==
          "right\n");
}

TEST_CASE("mini cuda finds a fetch of a texel that was never written") {
    const Answer result = mini_cuda_of(
        "__global__ void k(cudaTextureObject_t t, float* to) {\n"
        "  *to = tex2D<float>(t, 1, 1); }\n"
        "int main() { cudaResourceDesc from = {}; cudaTextureDesc how = {}; float* to;\n"
        "  cudaTextureObject_t t; const auto format = cudaCreateChannelDesc<float>();\n"
        "  cudaMallocArray(&from.res.array.array, &format, 2, 2); cudaMalloc(&to, 4);\n"
        "  cudaCreateTextureObject(&t, &from, &how, nullptr); k<<<1, 1>>>(t, to); }\n",
        "--check");
    CHECK(contains(result.text,
                   "uninitialised read: k, block (0, 0, 0), thread (0, 0, 0), "
                   "it.cu:2\n    reads 4 bytes at byte 12 of allocation 1"));
    CHECK(result.code == 1);
}

TEST_CASE("mini cuda says that launches by kernels are not simulated") {
    const std::string program =
        "__global__ void child(int* a) { *a = 1; }\n"
        "__global__ void parent(int* a) { child<<<1, 1>>>(a); }\n"
        "int main() { int* a; cudaMalloc(&a, 4); parent<<<1, 32>>>(a);\n"
        "  puts(cudaGetErrorString(cudaDeviceSynchronize())); }\n";
    CHECK(mini_cuda_of(program, "--check").text ==
          "no error\nlaunch refused: it.cu:2\n    child(int*) was not launched: a kernel "
          "launches it: not simulated\n    and 31 more like it\nMINI_SIM_CHECK: 1 "
          "mistake\n");
    CHECK(mini_cuda_of(program, "--run").text ==
          "a kernel threw: launches by kernels are not simulated\n");
}

TEST_CASE("mini cuda: a stream that does not block finds __device__ variables set") {
    CHECK(mini_cuda_of("__device__ int x = 5;\n"
                       "__global__ void k() { ++x; }\n"
                       "int main() { int now; cudaStream_t s;\n"
                       "  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);\n"
                       "  k<<<1, 1, 0, s>>>(); cudaStreamSynchronize(s);\n"
                       "  cudaMemcpyFromSymbol(&now, x, 4); printf(\"%d\\n\", now); }\n",
                       "--check")
              .text == "6\n");
}

TEST_CASE("findings name the calls that freed memory and launched kernels") {
    const std::string text =
        mini_cuda_of(
            "__global__ void k(int* a) { a[threadIdx.x] = 1; }\n"
            "int main() { int *a, *b; cudaStream_t s;\n"
            "  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);\n"
            "  cudaMalloc(&a, 128); cudaMalloc(&b, 128);\n"
            "  k<<<1, 32>>>(b);\n"
            "  k<<<1, 32, 0, s>>>(b);\n"
            "  cudaFree(a);\n"
            "  k<<<1, 32>>>(a); }\n",
            "--check")
            .text;
    CHECK(
        contains(text, "of allocation 1, made at it.cu:4, freed at it.cu:7 (128 bytes)"));
    CHECK(contains(text, "; k was launched at it.cu:6; k was launched at it.cu:5\n"));
}

TEST_CASE("a race of lanes asks for the barrier that the other warps need too") {
    for (const int threads : {32, 64}) {
        const std::string text =
            mini_cuda_of(
                concat("__global__ void k(int* a) { __shared__ int s[64];\n"
                       "  s[threadIdx.x] = 1; a[threadIdx.x] = s[threadIdx.x ^ 1]; }\n"
                       "int main() { int* a; cudaMalloc(&a, 256); k<<<1, ",
                       threads, ">>>(a); }\n"),
                "--check")
                .text;
        CHECK(contains(text, "a __syncwarp() that both reach is missing between them"));
        CHECK(contains(text, "or a __syncthreads() if other warps use it") ==
              (threads == 64));
    }
}

TEST_CASE("mini cuda says in a line that a launch's argument has the wrong type") {
    const std::string compiler = a_compiler();
    if (compiler.empty()) return;
    const Answer result = mini_cuda_of(
        "__global__ void k(float* a, int n) { a[n] = 1; }\n"
        "int main() { double* a = 0; k<<<1, 1>>>(a, 2); }\n",
        "-c", compiler);
    CHECK(
        result.text.starts_with("it.cu:2: error: the arguments do not fit the kernel's "
                                "parameters\n    no known conversion "));
    CHECK(std::ranges::count(result.text, '\n') == 2);
    CHECK(result.code == 3);
}

TEST_CASE("mini cuda names a kernel that is called without a launch") {
    const Answer result = mini_cuda_of(
        "__global__ void k(int* a) { a[threadIdx.x] = 1; }\n"
        "int main() { int a[8]; k(a); }\n",
        GENERATE("--run", "--check"));
    CHECK(contains(result.text, "k(int*) needs <<<blocks, threads>>>"));
    CHECK(result.code == 128 + 6);
}

TEST_CASE("mini cuda names what is not simulated, and wrong command lines") {
    const Answer graph = mini_cuda_of("int main() { cudaGraph_t graph; }\n", "--run");
    CHECK(contains(graph.text, "it.cu:1:"));
    CHECK(contains(graph.text, "mini cuda: cudaGraph_t is not simulated\n"));
    CHECK(graph.code == 3);
    // Nothing else is said of it.
    const Answer header = mini_cuda_of("#include <cuda/barrier>\n", "--run");
    CHECK(contains(header.text, "it.cu:1: "));
    CHECK(header.text.ends_with("mini cuda: cuda/barrier is not simulated\n"));
    CHECK(std::ranges::count(header.text, '\n') == 2);
    CHECK(contains(mini_cuda_of("#include <thrust/missing.h>\n", "-c").text,
                   "thrust/missing.h: install the package libthrust-dev"));
    const Answer member = mini_cuda_of(
        "#include <cooperative_groups.h>\n"
        "void f(cooperative_groups::cluster_group);\n",
        "-c");
    CHECK(contains(member.text,
                   "mini cuda: cooperative_groups::cluster_group is not simulated\n"));
    for (const char* wrong :
         {"", "missing.cu", "half.cu -o", "half.cu --check --count"}) {
        INFO(wrong);
        const Answer result = mini_cuda(wrong);
        CHECK(result.text.starts_with("mini cuda: "));
        CHECK(result.code == 2);
    }
}

using Line = std::pair<std::string, int>;  // a file and a line

// Returns the findings in a checked program's output, in their order: a line of the faults, and
// the kind.
std::vector<std::pair<Line, std::string>> findings_of(const std::string& output) {
    static const std::regex kFinding("(.+): .*(faults_of_.*\\.cu):([0-9]+)");
    std::vector<std::pair<Line, std::string>> findings;
    std::istringstream lines(output);
    std::smatch match;
    for (std::string line; std::getline(lines, line);)
        if (!line.starts_with(' ') && std::regex_match(line, match, kFinding))
            findings.emplace_back(Line{match[2], std::stoi(match[3])}, match[1]);
    return findings;
}

TEST_CASE("mini cuda --check finds each fault of programs/, and none without it") {
    const std::string compiler = a_compiler();
    if (compiler.empty()) return;
    const test::Folder folder;
    const std::string program = folder / "faults";
    REQUIRE(mini_cuda("faults_of_*.cu -o " + program, compiler).text == "");
    const std::string checked = "MINI_SIM_CHECK=1 " + program;
    const Answer right = run_shell(checked + " right");
    CHECK(right.text == "");
    CHECK(right.code == 0);

    std::map<Line, std::string> kinds;  // by the first line of a fault
    std::istringstream list(run_shell(program + " list").text);
    std::string file, kind;
    for (int line = 0; list >> file >> line && std::getline(list >> std::ws, kind);)
        kinds[{file, line}] = kind;
    const bool has_thrust = std::filesystem::exists("/usr/include/thrust/sort.h");
    CHECK(kinds.size() == (has_thrust ? 109 : 103));
    const Answer wrong = run_shell(checked + " wrong");
    CHECK(wrong.code == 1);
    std::set<Line> found;  // a later finding may follow from a fault's first
    for (const auto& [line, got] : findings_of(wrong.text)) {
        const auto fault = std::prev(kinds.upper_bound(line));
        INFO(line.first << ":" << line.second << "\n" << wrong.text);
        if (found.insert(fault->first).second) CHECK(got == fault->second);
    }
    for (const auto& [line, wanted] : kinds) {
        INFO(line.first << ":" << line.second << ": " << wanted << "\n" << wrong.text);
        CHECK(found.contains(line));
    }
}

}  // namespace
}  // namespace mini::sim
