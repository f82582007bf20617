// The tables and default sizes of mini bench on one device, and the options of mini bench
// allreduce.

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libmini/tensor/device.hpp"
#include "libmini/tools/mini/bench_device.hpp"
#include "libmini/program/sizes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/read_file.hpp"
#include "tests/support/answer.hpp"
#include "tests/support/json_answer.hpp"

using mini::Device;
using mini::test::Answer;
using mini::test::contains;
using mini::test::Folder;
using mini::test::json_of_mini;
using mini::test::read_file;
using mini::test::run_mini;
using mini::tools::BenchRows;

namespace {

const std::string kSmallBench = "bench matmul --sizes 8 --seconds 0.001 --json ";
const std::string kSimulatorNote = "# these are the simulator's times";

// Redirects stdout to a file until the end of the scope.
class Redirected {
  public:
    explicit Redirected(const std::string& path) : before_(dup(STDOUT_FILENO)) {
        std::fflush(stdout);
        const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        REQUIRE(file >= 0);
        dup2(file, STDOUT_FILENO);
        close(file);
    }
    ~Redirected() {
        std::fflush(stdout);
        dup2(before_, STDOUT_FILENO);
        close(before_);
    }
    Redirected(const Redirected&) = delete;
    Redirected& operator=(const Redirected&) = delete;

  private:
    int before_;
};

}  // namespace

TEST_CASE("a row's name is printed before the measurement and its numbers afterwards") {
    const Folder folder;
    const std::string path = folder / "table";
    std::string begun, ended;
    BenchRows::Json json;
    {
        const Redirected redirected(path);
        BenchRows rows({"rung", "size", "us", "share"});
        rows.begin({"slow", 64});
        begun = read_file(path);
        rows.end({2.5, nullptr});
        ended = read_file(path);
        json = rows.json();
    }
    const std::string header = "rung                    size          us       share\n";
    const std::string name = "slow                      64";
    CHECK(begun == header + name);
    CHECK(ended == header + name + "        2.50           -\n");
    CHECK(json.dump() == R"([{"rung":"slow","size":64,"us":2.5,"share":null}])");
}

TEST_CASE("default sizes are smaller on the simulator than on a GPU") {
    for (const bool simulated : {false, true}) {
        CAPTURE(simulated);
        mini::tools::DeviceBenchOptions defaults;
        choose_sizes(defaults, simulated);
        CHECK(defaults.sizes.back() == (simulated ? 256 : 4096));
        CHECK(defaults.elements == (simulated ? 1 << 20 : 1 << 26));

        mini::tools::DeviceBenchOptions given;
        given.sizes = {7};
        given.elements = 5000;
        choose_sizes(given, simulated);
        CHECK(given.sizes == std::vector<int64_t>{7});
        CHECK(given.elements == 5000);
    }
    CHECK_FALSE(mini::tools::is_simulated(Device::cpu()));
}

TEST_CASE("mini bench --json also writes the rows to a file") {
    const Folder folder;
    const std::string path = folder / "rows.json";
    const Answer cpu = run_mini(kSmallBench + path + " --device cpu");
    CAPTURE(cpu.text);
    CHECK(cpu.code == 0);
    CHECK(contains(cpu.text, "# matmul on cpu: CPU\n"));
    CHECK_FALSE(contains(cpu.text, kSimulatorNote));
    const auto json = nlohmann::json::parse(read_file(path));
    CHECK(json.at("bench") == "matmul");
    CHECK(json.at("rows").size() == 1);
    CHECK(json.at("rows")[0].at("rung") == "eigen");
    CHECK(json.at("rows")[0].at("size") == 8);
}

TEST_CASE("mini bench prints the note about simulated times only on the simulator",
          "[cuda]") {
    if (mini::cuda_device_count() == 0) {
        WARN("left out: this build has no CUDA devices");
        return;
    }
    const Folder folder;
    const std::string path = folder / "rows.json";
    const Answer cuda = run_mini(kSmallBench + path + " --device cuda");
    CAPTURE(cuda.text);
    CHECK(cuda.code == 0);
    CHECK(contains(cuda.text, kSimulatorNote) ==
          mini::tools::is_simulated(Device::cuda(0)));
    const auto rows = nlohmann::json::parse(read_file(path)).at("rows");
    CHECK(rows.size() >= 5);  // the rungs that run on every device
}

TEST_CASE("mini bench --json names a file that it cannot write") {
    const Answer answer =
        run_mini("bench matmul --device cpu --sizes 8 --seconds 0.001 --json /nowhere/x");
    CAPTURE(answer.text);
    CHECK(answer.code == 1);
    CHECK(contains(answer.text, "/nowhere/x could not be written"));
}

TEST_CASE("mini bench allreduce runs processes on an emulated link") {
    const auto json = json_of_mini(
        "bench allreduce --ranks 3 --sizes 4,40000 --seconds 0.001 "
        "--link '1Gbit,1ms; rank 1 at 0.5' --format json");
    CHECK(json.at("link") == "1Gbit,1ms; rank 1 at 0.5");
    for (const auto& row : json.at("rows")) CHECK(row.at("wrong") == 0);
}

TEST_CASE("mini bench allreduce uses the ranks of minirun and prints one table") {
    const std::string mini = MINI_BIN_DIR "/minirun -n 3 " MINI_BIN_DIR "/mini ";
    const Answer table =
        mini::test::run_shell(mini + "bench allreduce --sizes 4,40000 --seconds 0.001");
    CAPTURE(table.text);
    CHECK(table.code == 0);
    const size_t header = table.text.find("# 3 ranks, backend ring");
    CHECK(header != std::string::npos);
    CHECK(table.text.find("# 3 ranks", header + 1) == std::string::npos);
    CHECK_FALSE(contains(table.text, "[rank "));
    const Answer other = mini::test::run_shell(mini + "bench allreduce --ranks 2");
    CHECK(other.code == 2);
    CHECK(contains(other.text, "--ranks is 2, but torchrun or minirun"));
}

TEST_CASE("mini bench allreduce rejects --link for the threads backend") {
    const Answer answer = run_mini("bench allreduce --backend threads --link 1Gbit");
    CAPTURE(answer.text);
    CHECK(answer.code == 2);
    CHECK(contains(answer.text, "--link is for --backend ring, not threads"));
}

TEST_CASE("sizes of a range grow by factors of 4 and sizes above 1024 GiB are rejected") {
    using mini::parse_sizes;
    CHECK(parse_sizes("4:64") == std::vector<size_t>{4, 16, 64});
    CHECK(parse_sizes("1024G") == std::vector<size_t>{size_t{1} << 40});
    CHECK(parse_sizes("256G:1024G") ==
          std::vector<size_t>{size_t{1} << 38, size_t{1} << 40});
    const std::string text = GENERATE("1025G", "17179869184G:4", "1:17179869184G",
                                      "1099511627777", "99999999999999999999");
    CHECK(contains(mini::test::message_of([&] { parse_sizes(text); }),
                   "not a size from 1 to 1024G"));
}
