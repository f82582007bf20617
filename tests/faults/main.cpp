// Injects the faults of the table into one kind of group and counts.
//
//     dist_faults KIND [--fast] [--at-least FAULTS] [--only TEXT]
//
// Exit code 0: every survivor of every fault said what it must, nobody hung, nothing is
// left. The last line holds the counts.

#include <dirent.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "tests/faults/scene.hpp"
#include "tests/support/folder.hpp"

using namespace mini::dist::faults;

namespace {

struct Totals {
    size_t faults = 0, survivors = 0, wrong = 0, hung = 0;
    std::vector<double> death_times;  // milliseconds to the errors of dead peers
};

size_t files_in(const char* folder) {
    std::error_code none;
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry :
         std::filesystem::directory_iterator(folder, none))
        ++count;
    return count;
}

bool is_death(const Scenario& s) {
    return s.kind <= Kind::kThrows && s.moment != Moment::kShutdown;
}

void judge(const Scenario& s, const Outcome& outcome, Totals& totals) {
    ++totals.faults;
    totals.hung += outcome.hung;
    if (outcome.hung) fmt::print("HUNG: {}\n", describe(s));
    for (int rank = 0; rank < s.world_size; ++rank) {
        if (rank == s.victim) continue;
        ++totals.survivors;
        const std::string& text = outcome.texts[static_cast<size_t>(rank)];
        const std::string fault = fault_of(s, rank, text);
        if (fault.empty() || outcome.hung) continue;
        ++totals.wrong;
        fmt::print("WRONG: {}: survivor {}: {}: \"{}\"\n", describe(s), rank, fault,
                   text);
    }
    if (is_death(s))
        totals.death_times.insert(totals.death_times.end(), outcome.error_times.begin(),
                                  outcome.error_times.end());
    std::fflush(stdout);
}

double quantile(std::vector<double> values, double share) {
    if (values.empty()) return 0;
    std::ranges::sort(values);
    const auto last = static_cast<double>(values.size() - 1);
    return values[static_cast<size_t>(share * last)];
}

void block_child_signals() {
    sigset_t child;
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &child, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
    std::string kind = "threads", only;
    bool fast = false;
    size_t at_least = 0;
    CLI::App app("Injects faults into one kind of group.", "dist_faults");
    app.add_option("kind", kind, "threads, ring-tcp, ring-shm");
    app.add_flag("--fast", fast, "A few of each sort");
    app.add_option("--only", only, "Faults whose description has this in it");
    app.add_option("--at-least", at_least, "Fail when there are fewer faults");
    CLI11_PARSE(app, argc, argv);

    block_child_signals();
    const mini::test::Folder temporary;
    ::setenv("TMPDIR", temporary.path().c_str(), 1);
    const size_t shared_before = files_in("/dev/shm");
    Totals totals;
    for (const Scenario& s : all_scenarios(fast))
        if (describe(s).find(only) != std::string::npos) judge(s, play(kind, s), totals);

    const bool processes_left = ::waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD;
    const size_t files_left = temporary.names().size();
    const size_t shared_left =
        std::max(files_in("/dev/shm"), shared_before) - shared_before;
    fmt::print(
        "dist_faults: {}: {} faults, {} survivors, {} wrong, {} hung; left: {} "
        "processes, {} shared, {} files; error after a death: p50 {:.1f} ms, p99 "
        "{:.1f} ms\n",
        kind, totals.faults, totals.survivors, totals.wrong, totals.hung,
        processes_left ? "some" : "no", shared_left, files_left,
        quantile(totals.death_times, 0.5), quantile(totals.death_times, 0.99));
    const bool clean = !processes_left && shared_left == 0 && files_left == 0;
    return totals.wrong == 0 && totals.hung == 0 && clean && totals.faults >= at_least
               ? 0
               : 1;
}
