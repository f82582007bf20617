// Runs every case of the suite over one kind of group and counts failures.
//
//     dist_suite KIND [--at-least CASES] [--world-sizes 1,2,3,4,7] [--only TEXT]
//                [--every N]
//
// Exit codes: 0 success; 1 a case failed, there were too few cases, or the options are
// invalid; 2 this build does not have the kind's backend. The last line of output has the
// counts.

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <chrono>
#include <exception>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/distributed/transport/shared_all_reduce.hpp"
#include "libmini/extras/use_all.hpp"
#include "libmini/program/command_line.hpp"
#include "tests/distributed/suite/cases.hpp"
#include "tests/distributed/suite/worlds.hpp"

using namespace mini;
using namespace mini::dist::suite;

namespace {

struct Options {
    std::string kind = "threads";
    std::vector<int> world_sizes = {1, 2, 3, 4, 7};
    std::string only;
    size_t at_least = 0, every = 1;
};

struct Counts {
    size_t cases = 0, failed = 0;
};

// Prints failures as they happen and counts failed cases. Thread-safe: ranks report at
// the same time.
class Failures {
  public:
    void add(int rank, int world_size, const std::string& name, const std::string& what) {
        const std::lock_guard lock(mutex_);
        failed_.insert(name);
        fmt::print("FAILED on rank {} of {}: {}: {}\n", rank, world_size, name, what);
        std::fflush(stdout);
    }
    size_t failed() const { return failed_.size(); }

  private:
    std::mutex mutex_;
    std::set<std::string> failed_;
};

Scope scope_of(const Kind& kind, int world_size) {
    const bool shares_memory =
        kind.ours && kind.name != "ring-tcp" && dist::shared_all_reduce().run != nullptr;
    return {world_size, kind.ours, shares_memory};
}

bool is_end_of_group(const Error& error) {
    return dynamic_cast<const Timeout*>(&error) ||
           dynamic_cast<const PeerLost*>(&error) ||
           dynamic_cast<const MismatchedCollective*>(&error);
}

// Runs all cases on one rank, with a barrier after each if `separate`. Continues after a
// wrong result. Throws if the group itself has failed, because a failed group cannot run
// the next case.
void run_rank(dist::ProcessGroup& group, const std::vector<Case>& cases,
              Failures& failures, bool separate) {
    for (size_t i = 0; i < cases.size(); ++i) {
        group.events().clear();
        const bool in_background = (i + static_cast<size_t>(group.rank())) % 2 == 1;
        try {
            cases[i].run({group, in_background});
        } catch (const Error& error) {
            failures.add(group.rank(), group.world_size(), cases[i].name, error.what());
            if (is_end_of_group(error)) throw;
        }
        if (separate) group.barrier();
    }
}

Counts run_world(const Kind& kind, int world_size, const Options& options) {
    std::vector<Case> cases;
    size_t count = 0;
    for (const Case& c : all_cases(scope_of(kind, world_size)))
        if (c.name.find(options.only) != std::string::npos &&
            count++ % options.every == 0)
            cases.push_back(c);
    // In the whole list no two receives from any source follow each other, of which the
    // first could take a message for the second.
    const bool separate = options.every > 1;
    Failures failures;
    try {
        with_world(kind, world_size, [&](dist::ProcessGroup& group) {
            run_rank(group, cases, failures, separate);
        });
    } catch (const std::exception& error) {
        failures.add(-1, world_size, "the whole world", error.what());
    }
    return {cases.size(), failures.failed()};
}

int run(const Options& options) {
    const Kind kind(options.kind);
    if (const std::string reason = kind.unavailable(); !reason.empty()) {
        fmt::print("dist_suite: {}: {}\n", kind.name, reason);
        return 2;
    }
    const auto start = std::chrono::steady_clock::now();
    const std::vector<int> world_sizes = kind.is_process
                                             ? std::vector<int>{launched_world_size(kind)}
                                             : options.world_sizes;
    Counts total;
    for (const int world_size : world_sizes) {
        const Counts counts = run_world(kind, world_size, options);
        total.cases += counts.cases;
        total.failed += counts.failed;
    }
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    fmt::print("dist_suite: {}: {} cases, {} failed, world sizes {}, {:.1f} s\n",
               kind.name, total.cases, total.failed, fmt::join(world_sizes, ","),
               time.count());
    if (total.cases < options.at_least)
        fmt::print("dist_suite: expected at least {} cases\n", options.at_least);
    return total.failed > 0 || total.cases < options.at_least ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
    mini::extras::use_all();
    Options options;
    CommandLine line("Every collective over one kind of group.", "dist_suite");
    line.add("kind", options.kind, "threads, ring-tcp, ring-shm, gloo, env:mpi ...");
    line.add("--world-sizes", options.world_sizes, "Ranks").split_at(',');
    line.add("--only", options.only, "Cases whose name contains this text");
    line.add("--at-least", options.at_least, "Fail if there are fewer cases");
    line.add("--every", options.every, "Run each N-th case only")
        .type_name("N")
        .at_least(1);
    try {
        if (!line.parse(argc, argv)) return 0;
    } catch (const UsageError& error) {
        fmt::print(stderr, "dist_suite: {}\n", error.what());
        return 1;
    }
    return run(options);
}
