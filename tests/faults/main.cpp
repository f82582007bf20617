// Injects the faults of the table into one kind of group and counts the results.
//
//     dist_faults KIND [--fast] [--jobs N] [--bounds] [--at-least FAULTS] [--only TEXT]
//                      [--seed N]
//
// Exit code 0: every survivor of every fault threw the right error (with --bounds, also
// in time), no rank hung, and no process or file is left. 1: a check failed, or the
// options are invalid. 2: this build has no such backend. The last line of output has the
// counts.

#include <fmt/core.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <string>
#include <vector>

#include "libmini/distributed/launch/default_group.hpp"
#include "libmini/extras/use_all.hpp"
#include "libmini/program/command_line.hpp"
#include "tests/faults/board.hpp"
#include "tests/faults/scene.hpp"
#include "tests/support/folder.hpp"

using namespace mini::dist::faults;

namespace {

constexpr int kNotInThisBuild = 2;

struct Options {
    std::string kind = "threads", only;
    bool fast = false, bounds = false;
    size_t at_least = 0, jobs = 1;
    int seed = 0;
};

constexpr size_t kMostDeaths = 1 << 15;

// In memory that all jobs share.
struct Totals {
    std::atomic<size_t> faults, survivors, wrong, hung, out_of_bounds, processes_left;
    std::atomic<size_t> deaths;
    double death_times[kMostDeaths];  // milliseconds from a death to the errors
};

void judge_survivor(const Scenario& s, const Outcome& outcome, int rank, Totals& totals) {
    const std::string& text = outcome.texts[static_cast<size_t>(rank)];
    const auto& timing = outcome.timings[static_cast<size_t>(rank)];
    ++totals.survivors;
    const std::string fault = fault_of(s, rank, text);
    if (!fault.empty()) {
        ++totals.wrong;
        fmt::print("WRONG: {}: survivor {}: {}: \"{}\"\n", describe(s), rank, fault,
                   text);
    }
    if (!timing) return;
    const bool is_in_steps = s.moment != Moment::kJoining;
    if (is_death(s.kind) && is_in_steps)
        totals.death_times[totals.deaths++ % kMostDeaths] = timing->after_fault;
    const std::string bound = bound_broken(s, *timing);
    if (bound.empty()) return;
    ++totals.out_of_bounds;
    fmt::print("OUT OF BOUNDS: {}: survivor {}: {}\n", describe(s), rank, bound);
}

void judge(const Scenario& s, const Outcome& outcome, Totals& totals) {
    ++totals.faults;
    totals.hung += outcome.hung;
    if (outcome.hung) fmt::print("HUNG: {}\n", describe(s));
    for (int rank = 0; rank < s.world_size && !outcome.hung; ++rank)
        if (rank != s.victim) judge_survivor(s, outcome, rank, totals);
    std::fflush(stdout);
}

double quantile(std::vector<double> values, double share) {
    if (values.empty()) return 0;
    std::ranges::sort(values);
    const auto last = static_cast<double>(values.size() - 1);
    return values[static_cast<size_t>(share * last)];
}

// Blocks SIGCHLD, for which play() waits; disables core files; makes this
// process the parent of orphaned descendants.
void prepare_for_children() {
    sigset_t child;
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &child, nullptr);
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

// Runs and judges one of every `options.jobs` faults, from fault `job` on.
void run_job(const Options& options, size_t job, Totals& totals) {
    prepare_for_children();
    const auto all =
        all_scenarios(options.kind, options.fast, static_cast<unsigned>(options.seed));
    for (size_t i = job; i < all.size(); i += options.jobs)
        if (describe(all[i]).find(options.only) != std::string::npos)
            judge(all[i], play(options.kind, all[i]), totals);
    const bool all_reaped = ::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD;
    if (!all_reaped) ++totals.processes_left;
}

// Runs and judges all faults, in jobs side by side. Returns the exit code.
int inject(const Options& options) {
    const mini::test::Folder temporary;
    ::setenv("TMPDIR", temporary.path().c_str(), 1);
    const Shared<Totals> shared;
    Totals& totals = *shared;
    std::vector<pid_t> jobs;
    for (size_t job = 0; job < options.jobs; ++job)
        jobs.push_back(start_process([&] { run_job(options, job, totals); }));
    bool all_ran = true;
    for (const pid_t job : jobs) {
        int status = 0;
        all_ran &= ::waitpid(job, &status, 0) == job && status == 0;
    }

    const bool processes_left = totals.processes_left > 0 || !all_ran;
    const size_t files_left = temporary.names().size();
    const std::vector<double> death_times(
        totals.death_times, totals.death_times + std::min(+totals.deaths, kMostDeaths));
    fmt::print(
        "dist_faults: {}: {} faults, {} survivors, {} wrong, {} hung, {} out of bounds; "
        "left: {} processes, {} files; error after a death: p50 {:.1f} ms, "
        "p99 {:.1f} ms\n",
        options.kind, totals.faults.load(), totals.survivors.load(), totals.wrong.load(),
        totals.hung.load(), totals.out_of_bounds.load(), processes_left ? "some" : "no",
        files_left, quantile(death_times, 0.5), quantile(death_times, 0.99));
    const bool clean = !processes_left && files_left == 0;
    const bool in_time = !options.bounds || totals.out_of_bounds == 0;
    const bool right = totals.wrong == 0 && totals.hung == 0;
    return right && in_time && clean && totals.faults >= options.at_least ? 0 : 1;
}

bool is_available(const std::string& kind) {
    return mini::dist::is_available(kind.starts_with("ring-") ? "ring" : kind);
}

}  // namespace

int main(int argc, char** argv) {
    mini::extras::use_all();
    Options options;
    mini::CommandLine line("Injects faults into one kind of group.", "dist_faults");
    line.add("kind", options.kind, "Kind of group")
        .one_of({"threads", "ring-tcp", "ring-shm", "gloo"});
    line.add_flag("--fast", options.fast, "A few of each kind of fault");
    line.add("--jobs", options.jobs, "Run so many faults at a time");
    line.add_flag("--bounds", options.bounds,
                  "Fail if errors come too early or too late");
    line.add("--only", options.only, "Only faults whose description contains this text");
    line.add("--at-least", options.at_least, "Fail if there are fewer faults");
    line.add("--seed", options.seed,
             "Draws victims, sizes and times from N (0: as in the table)");
    try {
        if (!line.parse(argc, argv)) return 0;
    } catch (const mini::UsageError& error) {
        fmt::print(stderr, "dist_faults: {}\n", error.what());
        return 1;
    }

    if (!is_available(options.kind)) {
        fmt::print("dist_faults: {}: left out: this build has no such backend\n",
                   options.kind);
        return kNotInThisBuild;
    }
    return inject(options);
}
