// What the boxes of all ranks of one group say together, in words.
//
//     rank 0   ... #55 done   #56 done   #57 in it
//     rank 1   ... #55 done   #56 done
//     rank 2   ... #55 done   #56 done   #57 in it
//
//     all_reduce #57: ranks 0 and 2 are in it for 3.2 s; rank 1 finished barrier #56 and has
//     not called it
//
// The number to look at is the lowest that some rank is in: ranks in a later one have
// finished it.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libmini/tools/mini/flight_file.hpp"

namespace mini::tools {

using dist::FlightRecord;

bool is_point(const FlightRecord& record);  ///< send or recv, which have no sequence
bool is_finished(const FlightRecord& record);

/// Begun, and not finished: under way, or failed under way.
bool is_open(const FlightRecord& record);

/// The boxes of one group of one run, by rank.
struct GroupFlight {
    std::vector<RankFlight> ranks;

    const dist::FlightHead& head() const { return ranks.front().head; }
};

/// Sorts boxes by run, restart and group. Throws BadFile when two are of the same rank,
/// or disagree about the world size.
std::vector<GroupFlight> by_group(std::vector<RankFlight> flights);

/// Ranks of the group that left no box.
std::vector<int> ranks_without_box(const GroupFlight& group);

/// The record of number `sequence`; null when the rank has none.
const FlightRecord* find_record(const RankFlight& rank, uint64_t sequence);

/// Whether `rank` is done with number `sequence`, also when that is too old to be kept.
bool has_finished(const RankFlight& rank, uint64_t sequence);

/// "3.2 s", "1.4 ms", "20.0 us".
std::string duration_text(int64_t nanoseconds);

/// How long `record` has been, or was, under way, in nanoseconds.
int64_t time_in(const FlightRecord& record, const RankFlight& rank);

/// The findings, a sentence each, the gravest first.
std::vector<std::string> tell(const GroupFlight& group);

}  // namespace mini::tools
