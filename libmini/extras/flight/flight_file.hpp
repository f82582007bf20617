// Reads the boxes of the flight recorder, and converts them to JSON.

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "libmini/extras/flight/flight_box.hpp"

namespace mini::tools {

/// The box of one rank. The strings of `head` are valid UTF-8 without control characters;
/// `head.seen_at` is the current time if the box does not contain this time.
struct RankFlight {
    std::string file;
    dist::FlightHead head;
    std::vector<dist::FlightRecord> records;  // oldest first
};

/// Reads one box. Throws BadFile (one line, which names the file) if the file is damaged
/// or is not a box.
RankFlight read_flight(const std::string& path);

/// Returns the files in `paths`, sorted, with each folder replaced by the boxes in it.
/// Throws UsageError if there is no file.
std::vector<std::string> find_flights(const std::vector<std::string>& paths);

/// Returns the box as JSON: {"rank": 1, "host": ..., "records": [...]}, the oldest
/// operation first.
nlohmann::ordered_json json_of(const RankFlight& flight);

}  // namespace mini::tools
