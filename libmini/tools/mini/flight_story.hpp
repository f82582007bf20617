// Analyses the boxes of all ranks of one group, and reports the findings as sentences.
//
//     rank 0   ... #55 done   #56 done   #57 in it
//     rank 1   ... #55 done   #56 done
//     rank 2   ... #55 done   #56 done   #57 in it
//
//     all_reduce #57: ranks 0 and 2 are in it for 3.2 s; rank 1 finished barrier #56 and
//     has not called it
//
// The relevant operation is the one with the lowest number that some rank is in: a rank
// in a later operation has finished it.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libmini/tools/mini/flight_file.hpp"

namespace mini::tools {

using dist::FlightRecord;

/// Returns whether the operation is send or recv, which have no sequence number.
bool is_point(const FlightRecord& record);
bool is_finished(const FlightRecord& record);

/// Returns whether the operation has started but not finished: it is running, or failed
/// while running.
bool is_open(const FlightRecord& record);

/// The boxes of one group of one run, sorted by rank.
struct GroupFlight {
    std::vector<RankFlight> ranks;

    const dist::FlightHead& head() const { return ranks.front().head; }
};

/// Groups boxes by run, restart and group. Throws BadFile if two boxes of a group have
/// the same rank or different world sizes.
std::vector<GroupFlight> by_group(std::vector<RankFlight> flights);

/// Returns the ranks of the group that left no box.
std::vector<int> ranks_without_box(const GroupFlight& group);

/// Returns the record of the operation with this sequence number, or null.
const FlightRecord* find_record(const RankFlight& rank, uint64_t sequence);

/// Returns whether `rank` has finished the operation with this sequence number, also if
/// its record has already been overwritten.
bool has_finished(const RankFlight& rank, uint64_t sequence);

/// Returns "3.2 s", "1.4 ms", "20.0 us".
std::string duration_text(int64_t nanoseconds);

/// Returns the running time of the operation so far, or until it ended, in nanoseconds.
int64_t time_in(const FlightRecord& record, const RankFlight& rank);

/// Returns the findings, one sentence each, the most severe first.
std::vector<std::string> tell(const GroupFlight& group);

}  // namespace mini::tools
