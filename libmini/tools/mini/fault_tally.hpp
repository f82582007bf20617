// What a search over jobs with faults has counted, fault by fault.
//
//     fault        jobs     met   ranks threw    half by     all by   other rank   wrong
//     kill         2083    1790          7731     95 us     2.1 s           19       0
//     stop         1391    1209          5012       2 s     2.1 s            0       0
//
// half by, all by: the virtual time from the fault until so many of the ranks that threw had
// thrown. Of a fault that is there from the start, from the start of the job.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "libmini/io/line_chart.hpp"
#include "libmini/tools/mini/fault_check.hpp"
#include "libmini/tools/mini/fault_plan.hpp"

namespace mini::tools {

/// The counts of one fault. Plain data, which a pipe carries.
struct FaultCounts {
    /// Times are counted in classes of a quarter octave, from 1 us to about 70 s.
    static constexpr size_t kClasses = 105;

    uint64_t jobs = 0;
    uint64_t met = 0;         // whose fault was before their end
    uint64_t threw = 0;       // ranks
    uint64_t exceptions = 0;  // of these, ranks that named another rank, as allowed
    uint64_t wrong = 0;       // jobs
    std::array<uint32_t, kClasses>
        times{};  // ranks that threw, by the time since the fault
};

/// The counts of all faults. Plain data too.
struct FaultTally {
    std::array<FaultCounts, kFaultCount> of_fault{};
    uint64_t first_wrong = 0;  // the seed; 0 when none is wrong

    /// Counts one job.
    void add(const FaultPlan& plan, const FaultResult& result);

    /// Counts the jobs of another tally.
    void add(const FaultTally& other);

    /// The counts of all faults together.
    FaultCounts sum() const;
};

/// The table above, with a row for each fault that some job has.
std::string table_of(const FaultTally& tally);

/// [{"fault": "kill", "jobs": 2083, "met": 1790, "threw": 7731, "exceptions": 19, "wrong": 0,
///   "times": [{"seconds": 1.2e-6, "ranks": 3}, ...]}, ...]; a time is the end of its class.
nlohmann::json json_of(const FaultTally& tally);

/// The share of the ranks that have thrown, against the time since the fault: a line for each
/// fault of one rank or its links: as many as there are colours. Throws UsageError when no rank
/// has thrown.
io::LineChart chart_of(const FaultTally& tally);

}  // namespace mini::tools
