// The folder in which the ranks' flight recorders keep their files, and what they tell
// about a rank that has failed.
//
// A private folder must go away even when minirun is killed with -9: the caretaker removes
// it.

#pragma once

#include <optional>
#include <string>

#include "libmini/distributed/flight/flight_box.hpp"
#include "libmini/tools/minirun/caretaker.hpp"
#include "libmini/tools/minirun/failure.hpp"

namespace mini::tools {

class FlightFolder {
  public:
    /// `wanted`, or, when that is "", a new private folder that goes away at the end,
    /// with the caretaker, unless keep() was called. Throws Error.
    FlightFolder(const std::string& wanted, const Caretaker& caretaker);

    const std::string& path() const { return path_; }

    /// "it was in all_reduce #57 (sum of 21840 float32) for 3.2 s"; "" when the rank left
    /// no record of run `run`, as a program without libmini does.
    std::string last_operation(const std::string& run, const End& end) const;

    /// The rank whose loss ended the group for `rank`, as `rank` itself has put it down.
    std::optional<int> blamed_by(const std::string& run, int rank) const;

    /// Keeps the folder, and notes in the boxes of run `run` that their ranks have ended.
    /// Whether there is any box.
    bool keep(const std::string& run);

  private:
    std::optional<dist::Flight> read(const std::string& run, int rank) const;

    std::string path_;
    const Caretaker& caretaker_;
    bool kept_ = false;
};

}  // namespace mini::tools
