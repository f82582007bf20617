// Reading the boxes of the flight recorder, and writing them as JSON lines. Strict: a file
// that is damaged is named.
//
//     {"flight":1,"run":"3f2a","rank":1,"world_size":4,"group":"default","pid":4711,...}
//     {"number":57,"operation":"all_reduce","sequence":57,"dtype":"float32",...}

#pragma once

#include <string>
#include <vector>

#include "libmini/distributed/flight/flight_box.hpp"

namespace mini::tools {

/// The box of one rank. The head's texts are clean UTF-8; its `seen_at` is now if the box
/// says none.
struct RankFlight {
    std::string file;
    dist::FlightHead head;
    std::vector<dist::FlightRecord> records;  // oldest first
};

/// Reads one box. Throws BadFile, one line, naming the file.
RankFlight read_flight(const std::string& path);

/// The files that `paths` stand for: themselves, or for a folder all its boxes. Throws
/// UsageError when there is none.
std::vector<std::string> find_flights(const std::vector<std::string>& paths);

/// The box as JSON lines: first the rank, then one operation a line, oldest first.
std::string json_lines(const RankFlight& flight);

}  // namespace mini::tools
