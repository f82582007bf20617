#include "libmini/tools/mini/simulate_faults.hpp"

#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "libmini/core/descriptor.hpp"
#include "libmini/core/error.hpp"
#include "libmini/program/progress.hpp"
#include "libmini/tools/mini/fault_run.hpp"
#include "libmini/tools/mini/fault_tally.hpp"
#include "libmini/tools/mini/result_files.hpp"

namespace mini::tools {
namespace {

constexpr int64_t kMaxSeeds = 1'000'000'000;
constexpr int kMaxJobs = 256;

// The maximum number of wrong jobs that one process prints in full.
constexpr uint64_t kMaxStories = 5;

struct FaultOptions {
    int64_t seeds = 10'000;
    uint64_t first = 0;
    int jobs = 1;
    std::optional<int64_t> seed;
    ResultFiles files;
};

// Prints a wrong job, and the shortest wrong job that shrink() finds.
void tell_wrong(const FaultPlan& plan, const FaultResult& result) {
    fmt::print("{}", story_of(plan, result));
    const FaultPlan shortest = shrink(plan);
    fmt::print("  shortest job that goes wrong: {}\n",
               story_of(shortest, play(shortest)));
    std::fflush(stdout);
}

// Plays the seeds first + job, first + job + jobs, ... and returns their counts.
FaultTally play_share(const FaultOptions& options, int job) {
    FaultTally tally;
    uint64_t told = 0;
    const auto jobs = static_cast<uint64_t>(options.jobs);
    const uint64_t end = options.first + static_cast<uint64_t>(options.seeds);
    Progress progress(std::cerr, "faults",
                      (options.seeds + options.jobs - 1) / options.jobs,
                      {.enabled = job == 0, .terminal = stderr_is_terminal()});
    for (uint64_t seed = options.first + static_cast<uint64_t>(job); seed < end;
         seed += jobs) {
        const FaultPlan plan = plan_of(seed);
        const FaultResult result = play(plan);
        tally.add(plan, result);
        if (!result.error.empty() && ++told <= kMaxStories) tell_wrong(plan, result);
        progress.advance(1);
    }
    return tally;
}

// Runs play_share() in a child process. Returns the read end of a pipe to which the child
// writes its tally.
Descriptor start_share(const FaultOptions& options, int job) {
    std::array<int, 2> ends{};
    MINI_CHECK(::pipe(ends.data()) == 0, system_message("pipe", errno));
    Descriptor read_end(ends[0]), write_end(ends[1]);
    const pid_t child = ::fork();
    MINI_CHECK(child >= 0, system_message("fork", errno));
    if (child > 0) return read_end;
    int code = 1;
    try {
        const FaultTally tally = play_share(options, job);
        if (::write(write_end.fd(), &tally, sizeof tally) == sizeof tally) code = 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "mini: {}\n", error.what());
    }
    ::_exit(code);
}

// Reads the tally of a process that start_share() has started. Blocks until the process
// has written the tally.
FaultTally read_share(const Descriptor& share) {
    FaultTally tally;
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(&tally, 1));
    size_t count = 0;
    while (count < bytes.size()) {
        const ssize_t n = ::read(share.fd(), &bytes[count], bytes.size() - count);
        if (n < 0 && errno == EINTR) continue;
        MINI_CHECK(n > 0, "simulate faults: a process of --jobs has ended early");
        count += static_cast<size_t>(n);
    }
    return tally;
}

// Plays all seeds in options.jobs processes.
FaultTally play_all(const FaultOptions& options) {
    std::vector<Descriptor> shares;
    for (int job = 1; job < options.jobs; ++job)
        shares.push_back(start_share(options, job));
    FaultTally all = play_share(options, 0);
    for (const Descriptor& share : shares) all.add(read_share(share));
    while (::wait(nullptr) > 0) {
    }
    return all;
}

void run(FaultOptions& options) {
    options.files.open();
    const auto start = std::chrono::steady_clock::now();
    const FaultTally tally = play_all(options);
    const std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - start;
    const FaultCounts all = tally.sum();
    if (!options.files.replaces_table())
        fmt::print(
            "{}{} jobs, {} of them met their fault, in {:.1f} s ({:.0f} a second): {} "
            "wrong; {} ranks named another rank, as allowed\n",
            table_of(tally), all.jobs, all.met, seconds.count(),
            static_cast<double>(all.jobs) / seconds.count(), all.wrong, all.exceptions);
    options.files.write({{"first", options.first},
                         {"seeds", options.seeds},
                         {"seconds", seconds.count()},
                         {"faults", json_of(tally)}},
                        [&] { return chart_of(tally); });
    MINI_CHECK(all.wrong == 0, "simulate faults: ", all.wrong,
               " jobs did not end as they must; see one again with mini simulate faults "
               "--seed ",
               tally.first_wrong);
}

void tell(uint64_t seed) {
    const FaultPlan plan = plan_of(seed);
    const FaultResult result = play(plan);
    if (result.error.empty())
        fmt::print("{}", story_of(plan, result));
    else
        tell_wrong(plan, result);
    MINI_CHECK(result.error.empty(), "simulate faults: seed ", seed, ": ", result.error);
}

}  // namespace

void add_simulate_faults(Command& simulate) {
    Command faults = simulate.add_command(
        "faults", "Jobs with faults made from seeds; how every rank ends is checked");
    const auto options = std::make_shared<FaultOptions>();
    FaultOptions& o = *options;
    faults.add("--seeds", o.seeds, "How many jobs (10000)").range(1, kMaxSeeds);
    faults.add("--first", o.first, "The first seed (0)");
    faults.add("--jobs", o.jobs, "Processes that share the seeds (1)").range(1, kMaxJobs);
    faults.add("--seed", o.seed, "Play this one alone, and tell how each rank ends");
    o.files.add_options(faults, "how long after each fault its survivors have thrown");
    faults.on_parsed([options] {
        if (options->seed)
            tell(static_cast<uint64_t>(*options->seed));
        else
            run(*options);
    });
}

}  // namespace mini::tools
