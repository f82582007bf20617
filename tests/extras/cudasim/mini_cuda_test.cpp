// `mini cuda` as a user calls it: files of programs/ are compiled, run and checked.

#include <stdio.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
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
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/read_file.hpp"

namespace mini::sim {
namespace {

using test::contains;

struct Result {
    int code = 0;
    std::string output;  // stdout and stderr
};

Result shell(const std::string& command) {
    FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
    Result result;
    std::array<char, 4096> part;
    for (size_t got; (got = fread(part.data(), 1, part.size(), pipe)) > 0;)
        result.output.append(part.data(), got);
    const int status = pclose(pipe);
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return result;
}

// Runs `mini cuda` in programs/, by default with the build's compiler.
Result mini_cuda(const std::string& arguments, const std::string& compiler = "") {
    return shell(concat("cd ", MINI_PROGRAMS_DIR, " && ",
                        compiler.empty() ? "" : "CXX=" + compiler + " ", MINI_BIN_DIR,
                        "/mini cuda ", arguments));
}

// Generates the compilers that mini cuda supports; "" for one that is not installed.
std::string a_compiler() {
    const std::string compiler = GENERATE("g++", "clang++");
    return shell(compiler + " --version").code == 0 ? compiler : "";
}

TEST_CASE("mini cuda: the language and the runtime of plain programs") {
    const test::Folder folder;
    const std::string program = folder / "language";
    REQUIRE(mini_cuda("language.cu -arch=sm_80 --use_fast_math -lcublas -o " + program)
                .output == "");
    const Result plain = shell(program);
    CHECK(plain.output == "0 failures\n");
    CHECK(plain.code == 0);
    // The last launch is refused on purpose.
    const Result checked = shell("MINI_SIM_CHECK=1 " + program);
    CHECK(checked.output ==
          "a kernel was not launched: the grid or block dimensions are invalid\n"
          "0 failures\n");
    CHECK(checked.code == 0);
}

TEST_CASE("mini cuda: half and bfloat16, and the toolkit's libraries") {
    const std::string compiler = a_compiler();
    if (compiler.empty()) return;
    const std::string file = GENERATE("half.cu", "libraries.cu");
    CAPTURE(compiler, file);
    CHECK(mini_cuda("--check " + file, compiler).output == "0 failures\n");
}

// Returns what `mini cuda` says of a file with this text.
Result mini_cuda_of(const std::string& text, const std::string& options) {
    const test::Folder folder;
    std::ofstream(folder / "it.cu") << text;
    return shell(concat("cd ", folder.path(), " && ", MINI_BIN_DIR, "/mini cuda ",
                        options, " it.cu"));
}

TEST_CASE("mini cuda --count prints each kernel's traffic and its worst line") {
    const Result result = mini_cuda_of(
        "__global__ void copy(float* to, const float* from) {\n"
        "  to[threadIdx.x] = from[8 * threadIdx.x]; }\n"
        "int main() { float *a, *b; cudaMalloc(&a, 4096); cudaMalloc(&b, 4096);\n"
        "  for (int i = 0; i < 2; ++i) copy<<<1, 64>>>(a, b); cudaDeviceSynchronize(); "
        "}\n",
        "--count");
    CHECK(
        result.output ==
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

TEST_CASE("mini cuda --seeds names the order of blocks in which a mistake shows") {
    const Result result = mini_cuda_of(
        "__global__ void k(int* a) { if (blockIdx.x == 0) a[1] = 1; else a[0] = a[1]; }\n"
        "int main() { int* a; cudaMalloc(&a, 8); k<<<2, 1>>>(a); }\n",
        "--seeds 20");
    CHECK(contains(result.output, "it.cu:1"));
    CHECK(contains(result.output, "mini cuda: ended at order "));
    CHECK(result.code == 1);
}

TEST_CASE("mini cuda names what is not simulated, and wrong command lines") {
    const Result graph = mini_cuda_of("int main() { cudaGraph_t graph; }\n", "--run");
    CHECK(contains(graph.output, "it.cu:1:"));
    CHECK(contains(graph.output, "mini cuda: cudaGraph_t is not simulated\n"));
    CHECK(graph.code == 3);
    // Nothing else is said of it.
    const Result header = mini_cuda_of("#include <cuda/barrier>\n", "--run");
    CHECK(contains(header.output, "it.cu:1: "));
    CHECK(header.output.ends_with("mini cuda: cuda/barrier is not simulated\n"));
    CHECK(std::ranges::count(header.output, '\n') == 2);
    const Result member = mini_cuda_of(
        "#include <cooperative_groups.h>\n"
        "void f(cooperative_groups::cluster_group);\n",
        "-c");
    CHECK(contains(member.output,
                   "mini cuda: cooperative_groups::cluster_group is not simulated\n"));
    for (const char* wrong :
         {"", "missing.cu", "half.cu -o", "half.cu --check --count"}) {
        INFO(wrong);
        const Result result = mini_cuda(wrong);
        CHECK(result.output.starts_with("mini cuda: "));
        CHECK(result.code == 2);
    }
}

// Returns the findings in a checked program's output, in their order: a line of faults.cu,
// and the kind.
std::vector<std::pair<int, std::string>> findings_of(const std::string& output) {
    static const std::regex kFinding("(.+): .*faults\\.cu:([0-9]+)");
    std::vector<std::pair<int, std::string>> findings;
    std::istringstream lines(output);
    std::smatch match;
    for (std::string line; std::getline(lines, line);)
        if (!line.starts_with(' ') && std::regex_match(line, match, kFinding))
            findings.emplace_back(std::stoi(match[2]), match[1]);
    return findings;
}

TEST_CASE("mini cuda --check finds each fault of faults.cu, and none without it") {
    const std::string compiler = a_compiler();
    if (compiler.empty()) return;
    const test::Folder folder;
    const std::string program = folder / "faults";
    REQUIRE(mini_cuda("faults.cu -o " + program, compiler).output == "");
    const std::string checked = "MINI_SIM_CHECK=1 " + program;
    const Result right = shell(checked + " right");
    CHECK(right.output == "");
    CHECK(right.code == 0);

    std::map<int, std::string> kinds;  // by the first line of a fault
    std::istringstream list(shell(program + " list").output);
    std::string kind;
    for (int line = 0; list >> line && std::getline(list >> std::ws, kind);)
        kinds[line] = kind;
    CHECK(kinds.size() >= 60);
    const Result wrong = shell(checked + " wrong");
    CHECK(wrong.code == 1);
    std::set<int> found;  // a later finding may follow from a fault's first
    for (const auto& [line, got] : findings_of(wrong.output)) {
        const auto fault = std::prev(kinds.upper_bound(line));
        INFO("line " << line << "\n" << wrong.output);
        if (found.insert(fault->first).second) CHECK(got == fault->second);
    }
    for (const auto& [line, wanted] : kinds) {
        INFO("line " << line << ": " << wanted << "\n" << wrong.output);
        CHECK(found.contains(line));
    }
}

}  // namespace
}  // namespace mini::sim
