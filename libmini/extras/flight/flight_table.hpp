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

struct FlightTableOptions {
    bool colour = false;
    int width = 80;  // of the screen, in characters; the other ranks follow below
    int last = 8;    // number of operations; the latest operations are shown
};

/// Returns the table with an empty line before it, or "" if there is no operation to
/// show.
std::string flight_table(const GroupFlight& group, const FlightTableOptions& options);

}  // namespace mini::tools
