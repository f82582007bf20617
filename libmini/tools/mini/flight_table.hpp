// The table of `mini flight`: one row an operation, one column a rank.
//
//                                             rank 0        rank 1        rank 2
//     all_reduce #55 (sum of 21840 float32)   done 1.2 ms   done 1.2 ms   done 1.1 ms
//     barrier #56                             done 0.1 ms   done 0.1 ms   done 0.1 ms
//     all_reduce #57 (sum of 21840 float32)   in it 3.2 s   -             in it 3.2 s

#pragma once

#include <string>

#include "libmini/tools/mini/flight_story.hpp"

namespace mini::tools {

struct FlightTableOptions {
    bool colour = false;
    int width = 80;  // columns of the screen; ranks that do not fit come below
    int last = 8;    // operations
};

/// The table as text, an empty line before it; "" when there is nothing to show.
std::string flight_table(const GroupFlight& group, const FlightTableOptions& options);

}  // namespace mini::tools
