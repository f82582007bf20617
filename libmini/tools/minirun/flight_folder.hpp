// The folder of the ranks' flight recorder files, and queries about a failed rank.
//
// A private folder must be removed even if minirun is killed with SIGKILL: the watchdog
// removes it.

#pragma once

#include <optional>
#include <string>

#include "libmini/tools/minirun/failure.hpp"
#include "libmini/tools/minirun/watchdog.hpp"

namespace mini::tools {

class FlightFolder {
  public:
    /// Uses the folder `wanted`, and creates it if necessary. If `wanted` is "", creates
    /// a private folder, which the watchdog removes when minirun ends, unless keep()
    /// returned true. Throws Error if `wanted` cannot be created; without a private
    /// folder the job runs, but is not recorded. An extra records (rank_records.hpp).
    FlightFolder(const std::string& wanted, const Watchdog& watchdog);

    /// Returns the folder; "" if there is none.
    const std::string& path() const { return path_; }

    /// Returns why there is no folder; "" if there is one.
    const std::string& why_not() const { return why_not_; }

    /// Returns a sentence about the rank's last operation, e.g. "it was in all_reduce #57
    /// (sum of 21840 float32) for 3.2 s"; "" if the rank has no box of run `run`, e.g.
    /// because the program does not use libmini. Throws BadFile if the box is damaged.
    std::string last_operation(const std::string& run, const End& end) const;

    /// Returns the rank that the boxes of `rank` blame for the end of the first of its
    /// groups that failed; std::nullopt if there is no box, or no box blames a rank.
    /// Throws BadFile if a box is damaged.
    std::optional<int> blamed_by(const std::string& run, int rank) const;

    /// Records in the boxes of run `run` that their ranks have ended, and keeps the
    /// folder if it has such a box. Returns whether the folder is kept. Throws BadFile if
    /// a box is damaged.
    bool keep(const std::string& run);

  private:
    std::string path_;
    std::string why_not_;
    const Watchdog& watchdog_;
    bool kept_ = false;
};

}  // namespace mini::tools
