// The table of `mini flight`: one row per operation, one column per rank. If ranks called
// different operations with one sequence number, each of them has a row.
//
//                                             rank 0        rank 1        rank 2
//     all_reduce #55 (sum of 21840 float32)   done 1.2 ms   done 1.2 ms   done 1.1 ms
//     barrier #56                             done 0.1 ms   done 0.1 ms   done 0.1 ms
//     all_reduce #57 (sum of 21840 float32)   in it 3.2 s   -             in it 3.2 s

#pragma once

#include <string>

#include "libmini/extras/flight/flight_story.hpp"

namespace mini::tools {

/// Returns the table of the `last` latest operations, with an empty line before it; "" if
/// there is no operation to show.
std::string flight_table(const GroupFlight& group, int last = 8);

}  // namespace mini::tools
