#include "libmini/tools/mini/doctor.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/core/terminal.hpp"
#include "libmini/program/wrap.hpp"

namespace mini::tools {
namespace {

using Level = Finding::Level;

constexpr int64_t kMiB = 1 << 20;
constexpr int64_t kLeastShm = 64 * kMiB + 1;  // Docker's default is too small for NCCL
constexpr int64_t kFilesOfAProgram = 256;     // libraries, data files, logs
constexpr int64_t kFilesOfARank = 4;          // of minirun; a rank has a socket to each

// By level: green, cyan, yellow and red.
constexpr std::array<std::pair<const char*, int>, 4> kLevels = {
    {{"ok", 32}, {"info", 36}, {"warn", 33}, {"fail", 31}}};

std::string to_text(CudaVersion version) {
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

// Collects findings: `ok` if a condition holds, else another level with the remedy.
class Findings {
  public:
    void add(Level level, std::string what, std::string found, std::string remedy = "") {
        list_.push_back({level, std::move(what), std::move(found), std::move(remedy)});
    }
    void expect(bool holds, Level otherwise, const char* what, std::string found,
                std::string remedy) {
        holds ? add(Level::kOk, what, std::move(found))
              : add(otherwise, what, std::move(found), std::move(remedy));
    }
    std::vector<Finding> take() { return std::move(list_); }

  private:
    std::vector<Finding> list_;
};

// A program needs a driver of its toolkit's major version or a newer one.
void judge_gpus(const MachineFacts& facts, int ranks, Findings& list) {
    if (facts.device_code != "ON") {
        const char* const build = facts.device_code == "SIM"
                                      ? "this build simulates GPUs"
                                      : "this build has no device code";
        list.add(Level::kInfo, "GPUs", fmt::format("{}; {}", facts.gpus, build),
                 facts.gpus > 0 ? "to use them, configure with -DMINI_CUDA=ON" : "");
        return;
    }
    if (facts.driver == 0)
        return list.add(Level::kFail, "CUDA driver", "none, but this build is for GPUs",
                        "install NVIDIA's driver; start a container with --gpus all; or "
                        "configure with -DMINI_CUDA=SIM");
    list.expect(
        facts.driver / 1000 >= facts.toolkit / 1000, Level::kFail, "CUDA driver",
        fmt::format("{}; toolkit {}", to_text(facts.driver), to_text(facts.toolkit)),
        fmt::format("update the driver, or build with CUDA {} or older",
                    to_text(facts.driver)));
    if (facts.gpus == 0)
        return list.add(Level::kFail, "GPUs", "none, or CUDA_VISIBLE_DEVICES hides them",
                        "look at nvidia-smi; start a container with --gpus all");
    list.expect(facts.gpus >= ranks, Level::kWarn, "GPUs", concat(facts.gpus),
                fmt::format("NCCL needs one for each of {} ranks: start fewer, or use "
                            "backend ring",
                            ranks));
}

void judge_backends(const MachineFacts& facts, Findings& list) {
    for (const BackendFact& backend : facts.backends)
        list.expect(backend.why_not.empty(), Level::kInfo,
                    concat("backend ", backend.name).c_str(),
                    backend.why_not.empty() ? "in this build" : "not in this build",
                    backend.why_not);
    const auto mpi = std::ranges::find(facts.backends, "mpi", &BackendFact::name);
    if (mpi == facts.backends.end() || !mpi->why_not.empty()) return;
    list.expect(!facts.mpirun.empty(), Level::kWarn, "mpirun",
                facts.mpirun.empty() ? "not in PATH" : facts.mpirun,
                "install openmpi-bin, or load the module of this cluster's MPI");
}

void judge_limits(const MachineFacts& facts, int ranks, Findings& list) {
    const int64_t shm = facts.shm_free.value_or(0);
    list.expect(
        shm >= kLeastShm, Level::kWarn, "/dev/shm",
        facts.shm_free ? fmt::format("{} MiB free", shm / kMiB) : "no such folder",
        "NCCL and Open MPI pass messages there: remove old files, or in Docker "
        "start with --shm-size=1g");
    const int64_t files = kFilesOfAProgram + kFilesOfARank * ranks;
    list.expect(facts.open_files >= files, Level::kWarn, "open files",
                concat(facts.open_files, " (ulimit -n)"),
                fmt::format("raise it for {} ranks: ulimit -n {}", ranks, files));
    const bool is_unlimited = facts.locked_memory < 0;
    list.expect(is_unlimited, Level::kInfo, "locked memory",
                is_unlimited
                    ? "no limit"
                    : fmt::format("{} MiB (ulimit -l)", facts.locked_memory / kMiB),
                "only InfiniBand needs more: ulimit -l unlimited");
}

void judge_network(const MachineFacts& facts, Findings& list) {
    const std::string& error = facts.loopback_error;
    list.expect(error.empty(), Level::kFail, "loopback",
                error.empty() ? "a free port of 127.0.0.1 connects" : error,
                "ranks cannot meet; bring it up with: ip link set lo up");
    list.expect(!facts.address.empty(), Level::kWarn, "host name",
                facts.address.empty() ? concat(facts.host, " does not resolve")
                                      : concat(facts.host, " is ", facts.address),
                "jobs on several nodes need it: add it to /etc/hosts");
}

std::string to_text(const Finding& finding, bool colour) {
    const auto& [level, number] = kLevels[static_cast<size_t>(finding.level)];
    std::string text =
        wrapped(fmt::format("{:4}  {:24}{}\n", level, finding.what, finding.found));
    if (!finding.remedy.empty()) text += wrapped("      -> " + finding.remedy);
    if (!colour) return text;
    return fmt::format("\033[{}m{}\033[0m{}", number, text.substr(0, 4), text.substr(4));
}

void examine(int ranks) {
    const bool colour = has_colours(STDOUT_FILENO);
    const std::vector<Finding> all = findings(machine_facts(), ranks);
    for (const Finding& finding : all) fmt::print("{}", to_text(finding, colour));
    const auto failed = std::ranges::count(all, Level::kFail, &Finding::level);
    MINI_CHECK(failed == 0, "doctor: ", failed, " of ", all.size(), " checks failed");
}

}  // namespace

std::vector<Finding> findings(const MachineFacts& facts, int ranks) {
    Findings list;
    list.expect(
        facts.cores >= ranks, Level::kWarn, "cores", concat(facts.cores),
        fmt::format("{} ranks take turns: measure with at most {}", ranks, facts.cores));
    judge_gpus(facts, ranks, list);
    judge_backends(facts, list);
    judge_limits(facts, ranks, list);
    judge_network(facts, list);
    return list.take();
}

void add_doctor(Command& mini) {
    Command command = mini.add_command(
        "doctor", "Says what ranks need from this machine, and what it lacks");
    const auto ranks = std::make_shared<int>(2);
    command.add("-n,--ranks", *ranks, "Ranks that you will start here (2)")
        .type_name("N")
        .range(1, 4096);
    command.on_parsed([ranks] { examine(*ranks); });
}

}  // namespace mini::tools
