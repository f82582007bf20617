// Reading the dumps of the flight recorder: JSON lines, or the box itself of a rank that
// had no time to write them. Strict: what is damaged is named, never guessed.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libmini/distributed/flight/flight_box.hpp"

namespace mini::tools {

/// One operation of a rank. Times in nanoseconds on the rank's monotonic clock; 0: not
/// yet.
struct FlightEntry {
    using State = dist::FlightRecord::State;

    std::string what;       // "all_reduce #57 (sum of 21840 float32)"
    std::string operation;  // "all_reduce"
    bool point = false;     // send or recv, which have no sequence
    uint64_t sequence = 0;
    State state = State::kQueued;
    int64_t started_at = 0;
    int64_t ended_at = 0;

    bool finished() const { return state == State::kFinished; }

    /// Begun, and not finished: under way, or failed under way.
    bool open() const { return started_at != 0 && !finished(); }
};

/// The dump of one rank.
struct RankFlight {
    std::string file;
    dist::FlightHead head;
    std::string reason;                // why it was written
    int64_t now = 0;                   // when
    std::vector<FlightEntry> entries;  // oldest first
};

/// Reads one file. Throws BadFile naming the file, the line and what is wrong with it.
RankFlight read_flight(const std::string& path);

/// The files that `paths` stand for: themselves, or for a folder all its dumps, and the
/// boxes of ranks without a dump. Throws UsageError when there is none.
std::vector<std::string> find_flights(const std::vector<std::string>& paths);

}  // namespace mini::tools
