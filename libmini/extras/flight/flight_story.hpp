// Analyses the boxes of all ranks of one group, and reports the findings as sentences.
//
//     rank 0   ... #55 done   #56 done   #57 in it
//     rank 1   ... #55 done   #56 done
//     rank 2   ... #55 done   #56 done   #57 in it
//
//     all_reduce #57: ranks 0 and 2 have been in it for 3.2 s; rank 1 has not called it
//     (its last finished call: barrier #56)
//
// The relevant operation is the open operation with the lowest number: a rank in a later
// operation has already finished the relevant operation.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libmini/extras/flight/flight_file.hpp"

namespace mini::tools {

using dist::FlightRecord;

/// Returns whether the operation is send or recv. These have no sequence number.
bool is_point(const FlightRecord& record);

/// Returns whether the operation has finished without an error.
bool is_finished(const FlightRecord& record);

/// Returns whether the operation has started but not finished: it is running, or failed
/// while running.
bool is_open(const FlightRecord& record);

/// The boxes of one group of one run, sorted by rank in the group. Ranks in texts are
/// those of the job.
struct GroupFlight {
    std::vector<RankFlight> ranks;

    const dist::FlightHead& head() const { return ranks.front().head; }
};

/// Groups boxes by run, restart, and the group's name and members. Throws BadFile if two
/// boxes of a group have the same rank or different world sizes.
std::vector<GroupFlight> by_group(std::vector<RankFlight> flights);

/// Returns the ranks of the job that are in the group but left no box.
std::vector<int> ranks_without_box(const GroupFlight& group);

/// Returns the record of the operation with this sequence number; null if `rank` has no
/// such record.
const FlightRecord* find_record(const RankFlight& rank, uint64_t sequence);

/// Returns whether `rank` has finished the operation with this sequence number. Returns
/// true even if the record of the finished operation was overwritten.
bool has_finished(const RankFlight& rank, uint64_t sequence);

/// Returns a duration as text: "3.2 s", "1.4 ms" or "20.0 us".
std::string duration_text(int64_t nanoseconds);

/// Returns how long the operation ran, in nanoseconds: until its end, or until the box
/// was last seen (`rank.head.seen_at`) if the operation has not ended.
int64_t time_in(const FlightRecord& record, const RankFlight& rank);

/// Returns the findings, one sentence each, the most severe first.
std::vector<std::string> tell(const GroupFlight& group);

}  // namespace mini::tools
