// The counts of a search over jobs with faults, by fault.
//
//     fault        jobs     met   ranks threw    half by     all by   other rank   wrong
//     kill         2083    1790          7731     95 us     2.1 s           19       0
//     stop         1391    1209          5012       2 s     2.1 s            0       0
//
//     met               jobs whose fault happened before their end
//     half by, all by   virtual time from the fault until half, or all, of the throwing
//                       ranks had thrown; a fault without a step counts from the start
//     other rank        ranks that named another rank, as check() allows
//     wrong             jobs that did not end as required

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "libmini/io/chart.hpp"
#include "libmini/tools/mini/fault_check.hpp"
#include "libmini/tools/mini/fault_plan.hpp"

namespace mini::tools {

/// The counts of one fault. Plain data, so that a pipe can carry it.
struct FaultCounts {
    /// The number of classes of times: quarter octaves from 1 us to about 70 s.
    static constexpr size_t kClasses = 105;

    uint64_t jobs = 0;
    uint64_t met = 0;         // jobs whose fault happened before their end
    uint64_t threw = 0;       // ranks that threw, except victims
    uint64_t exceptions = 0;  // ranks that named another rank, as check() allows
    uint64_t wrong = 0;       // jobs that did not end as required
    std::array<uint32_t, kClasses>
        times{};  // ranks that threw, by the time since the fault
};

/// The counts of all faults. Plain data.
struct FaultTally {
    std::array<FaultCounts, kFaultCount> of_fault{};
    uint64_t first_wrong = 0;  // seed of the first wrong job; 0 if no job is wrong

    /// Adds one job to the counts.
    void add(const FaultPlan& plan, const FaultResult& result);

    /// Adds the counts of another tally.
    void add(const FaultTally& other);

    /// Returns the counts of all faults together.
    FaultCounts sum() const;
};

/// Returns the table above, with a row for each fault that occurred in a job.
std::string table_of(const FaultTally& tally);

/// Returns one object per fault; "seconds" is the end of a class:
///     [{"fault": "kill", "jobs": 2083, "met": 1790, "threw": 7731, "exceptions": 19,
///       "wrong": 0, "times": [{"seconds": 1.2e-6, "ranks": 3}, ...]}, ...]
nlohmann::json json_of(const FaultTally& tally);

/// Returns a chart of the share of the ranks that have thrown, against the time since the
/// fault. The chart has one line for each fault up to kPartition after which a rank
/// threw: fewer lines than io::svg_of() has colours. If no rank threw, the chart
/// has no line, and io::svg_of() throws UsageError.
io::LineChart chart_of(const FaultTally& tally);

}  // namespace mini::tools
