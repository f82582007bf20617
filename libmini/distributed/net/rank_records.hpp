// The registry of what ranks recorded about themselves in files: minirun reads there what a
// rank did before its end, if an extra records it (libmini/extras/flight).

#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace mini::dist {

/// Functions on a folder of records. They throw BadFile if a file is damaged.
struct RankRecords {
    /// Returns a sentence about the last operation of rank `rank` of run `run`, which ended
    /// at `ended_at` (nanoseconds of the monotonic clock), e.g. "it was in all_reduce #57
    /// (sum of 21840 float32) for 3.2 s"; "" if the rank has no records.
    std::string (*last_operation)(const std::string& folder, const std::string& run,
                                  int rank, int64_t ended_at) = nullptr;

    /// Returns the rank that the records of `rank` blame for the end of the first of its
    /// groups that failed; std::nullopt if there is none.
    std::optional<int> (*blamed_by)(const std::string& folder, const std::string& run,
                                    int rank) = nullptr;

    /// Records that all ranks of the run have ended. Returns whether it has records.
    bool (*note_ends)(const std::string& folder, const std::string& run) = nullptr;
};

/// Returns the functions of the process, which an extra sets in main; null members if
/// none were set.
inline RankRecords& rank_records() {
    static RankRecords registered;
    return registered;
}

}  // namespace mini::dist
