// The folder of the ranks' flight recorder files, and queries about a failed rank. An extra
// records (rank_records.hpp).

#pragma once

#include <optional>
#include <string>

#include "libmini/tools/minirun/failure.hpp"

namespace mini::tools {

class FlightFolder {
  public:
    /// Uses the folder `wanted`, and creates it if necessary. If `wanted` is "", creates
    /// a private folder. Throws Error if `wanted` cannot be created; without a private
    /// folder the job runs, but is not recorded.
    explicit FlightFolder(const std::string& wanted);

    /// Returns the folder; "" if there is none.
    const std::string& path() const { return path_; }

    /// Returns the folder if it is private, to be removed when minirun ends; else "".
    const std::string& private_path() const { return private_path_; }

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

    /// Records in the boxes of run `run` that their ranks have ended. Returns whether the
    /// folder has such a box. Throws BadFile if a box is damaged.
    bool note_ends(const std::string& run) const;

  private:
    std::string path_, private_path_;
    std::string why_not_;
};

}  // namespace mini::tools
