// What the dumps of all ranks of one group say together, in words.
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

/// The dumps of one group of one run, by rank.
struct GroupFlight {
    std::vector<RankFlight> ranks;

    const dist::FlightHead& head() const { return ranks.front().head; }
};

/// Sorts dumps by run, restart and group. Throws BadFile when two are of the same rank,
/// or disagree about the world size.
std::vector<GroupFlight> by_group(std::vector<RankFlight> flights);

/// Ranks of the group that left no dump.
std::vector<int> ranks_without_dump(const GroupFlight& group);

/// The entry of number `sequence`; null when the rank has none.
const FlightEntry* find_entry(const RankFlight& rank, uint64_t sequence);

/// Whether `rank` is done with number `sequence`, also when that is too old to be kept.
bool has_finished(const RankFlight& rank, uint64_t sequence);

/// "3.2 s", "1.4 ms", "20.0 us".
std::string duration_text(int64_t nanoseconds);

/// How long `entry` has been, or was, under way.
std::string time_in(const FlightEntry& entry, const RankFlight& rank);

/// The findings, a sentence each, the gravest first.
std::vector<std::string> tell(const GroupFlight& group);

}  // namespace mini::tools
