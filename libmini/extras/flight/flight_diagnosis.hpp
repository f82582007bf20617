// Analyses the dumps of all ranks of one group, and reports the findings as sentences.
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

#include "libmini/extras/flight/flight_dump.hpp"

namespace mini::tools {

/// The dumps of one group of one run, sorted by rank in the group. Ranks in texts are
/// those of the job.
struct GroupFlight {
    std::vector<dist::Flight> ranks;

    const dist::FlightHead& head() const { return ranks.front().head; }
};

/// Reads one dump; head.seen_at is the current time if the dump does not contain this
/// time. Throws as read_dump_file does.
dist::Flight read_flight(const std::string& path);

/// Groups dumps by run, restart, and the group's name and members. Throws BadFile if two
/// dumps of a group have the same rank or different world sizes.
std::vector<GroupFlight> by_group(std::vector<dist::Flight> flights);

/// Returns a duration as text: "3.2 s", "1.4 ms" or "20.0 us".
std::string duration_text(int64_t nanoseconds);

/// Returns the findings, one sentence each, the most severe first.
std::vector<std::string> tell(const GroupFlight& group);

/// Returns the table of the 8 latest operations, with an empty line before it; "" if
/// there is no operation to show. If ranks called different operations with one sequence
/// number, each of them has a row.
///
///                                             rank 0        rank 1        rank 2
///     all_reduce #55 (sum of 21840 float32)   done 1.2 ms   done 1.2 ms   done 1.1 ms
///     all_reduce #57 (sum of 21840 float32)   in it 3.2 s   -             in it 3.2 s
std::string flight_table(const GroupFlight& group);

}  // namespace mini::tools
