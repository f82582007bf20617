// fault_search: runs jobs with faults in virtual time; each seed gives one job. A job must end
// as fault_check.hpp says.
//
//     fault_search --seeds 1000000    the jobs of seeds 0 to 999999; prints those that are wrong
//     fault_search --seed 7           one job; prints the end of each rank
//
// Exit codes: 0 no job was wrong, 1 some were, 2 usage error.

#include <fmt/core.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <optional>
#include <string>

#include "libmini/core/error.hpp"
#include "libmini/program/command_line.hpp"
#include "tests/faults/search/fault_run.hpp"

using namespace mini::test;

namespace {

struct Options {
    int64_t seeds = 10'000, first = 0;
    std::optional<int64_t> seed;
};

// The jobs with one fault.
struct Counts {
    int64_t jobs = 0;
    int64_t met = 0;  // the fault happened before the end of the job
};

int tell(uint64_t seed) {
    const FaultPlan plan = plan_of(seed);
    const FaultResult result = play(plan);
    fmt::print("{}", story_of(plan, result));
    return result.error.empty() ? 0 : 1;
}

int search(const Options& options) {
    std::map<std::string, Counts> counts;
    int64_t wrong = 0, exceptions = 0;
    for (int64_t seed = options.first; seed < options.first + options.seeds; ++seed) {
        const FaultPlan plan = plan_of(static_cast<uint64_t>(seed));
        const FaultResult result = play(plan);
        Counts& of_fault = counts[fault_name(plan.fault)];
        ++of_fault.jobs;
        of_fault.met += result.happened;
        exceptions += result.exceptions;
        if (result.error.empty()) continue;
        ++wrong;
        fmt::print("{}", story_of(plan, result));
        std::fflush(stdout);  // the rest may take hours
    }
    for (const auto& [fault, of_fault] : counts)
        fmt::print("{:<12}{:>9} jobs, {:>9} met it\n", fault, of_fault.jobs,
                   of_fault.met);
    fmt::print("{} jobs: {} wrong; ranks that named another rank, as allowed: {}\n",
               options.seeds, wrong, exceptions);
    return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
    Options o;
    mini::CommandLine line("Runs jobs with faults, and checks how each rank ends.",
                           "fault_search");
    line.add("--seeds", o.seeds, "How many jobs").range(1, 1'000'000'000);
    line.add("--first", o.first, "The first seed").at_least(0);
    line.add("--seed", o.seed, "Run this one alone, and print the end of each rank");
    if (!line.parse(argc, argv)) return 0;
    return o.seed ? tell(static_cast<uint64_t>(*o.seed)) : search(o);
} catch (const mini::UsageError& error) {
    fmt::print(stderr, "fault_search: {}\n", error.what());
    return 2;
} catch (const std::exception& error) {
    fmt::print(stderr, "fault_search: {}\n", error.what());
    return 1;
}
