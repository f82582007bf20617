// The folder in which the ranks' flight recorders keep their files, and what they tell
// about a rank that has failed.
//
// A private folder must go away even when minirun is killed with -9. So a small process
// watches a pipe whose other end minirun holds: the pipe ends when minirun does.

#pragma once

#include <optional>
#include <string>

#include "libmini/dist/flight_box.hpp"
#include "libmini/tools/minirun/descriptor.hpp"
#include "libmini/tools/minirun/failure.hpp"

namespace mini::tools {

class FlightFolder {
  public:
    /// `wanted`, or, when that is "", a new private folder that goes away at the end,
    /// unless keep() was called. Throws Error.
    explicit FlightFolder(const std::string& wanted);
    ~FlightFolder();
    FlightFolder(const FlightFolder&) = delete;
    FlightFolder& operator=(const FlightFolder&) = delete;

    const std::string& path() const { return path_; }

    /// "it was in all_reduce #57 (sum of 21840 float32) for 3.2 s"; "" when the rank left
    /// no record of run `run`, as a program without libmini does.
    std::string last_operation(const std::string& run, const End& end) const;

    /// The rank whose loss ended the group for `rank`, as `rank` itself has put it down.
    std::optional<int> blamed_by(const std::string& run, int rank) const;

    /// Writes the dumps of all ranks of run `run`, also of those that had no time to, in
    /// place of their boxes, and keeps the folder. Whether there is any dump.
    bool keep(const std::string& run);

  private:
    void start_caretaker();
    std::optional<dist::Flight> read(const std::string& run, int rank) const;

    std::string path_;
    bool temporary_;
    bool kept_ = false;
    pid_t caretaker_ = -1;
    Descriptor alive_;  // while it is open, the caretaker waits
};

}  // namespace mini::tools
