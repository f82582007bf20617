// The destination of the ranks' output: the screen, log files, or both.
//
//     DIR/<run>/attempt_0/1/stdout.log     torchrun's layout: restart count, local rank

#pragma once

#include <string>

#include "libmini/distributed/rendezvous/rank_environment.hpp"
#include "libmini/tools/minirun/options.hpp"
#include "libmini/tools/minirun/output.hpp"

namespace mini::tools {

class Logs {
  public:
    /// Chooses the folder, but creates no file yet. DIR is options.log_dir. REQUIRES: DIR
    /// is not empty if any rank has a log file.
    Logs(const Options& options, const dist::Job& job);

    /// Returns whether any rank has a log file.
    bool any() const { return !options_.tee.empty() || !options_.redirects.empty(); }

    /// Returns the folder of this attempt's logs.
    const std::string& folder() const { return folder_; }

    /// Returns the source that reads a rank's stdout (`bit` 1) or stderr (`bit` 2) from
    /// `pipe`. Creates the log file if the stream is logged; throws Error if that fails.
    Output::Source source(int local_rank, int bit, Descriptor pipe) const;

    /// Returns the path of a rank's stderr log, or "" if stderr is not logged.
    std::string stderr_path(int local_rank) const;

  private:
    bool logged(int local_rank, int bit) const;
    std::string path(int local_rank, int bit) const;

    const Options& options_;
    std::string folder_;
};

}  // namespace mini::tools
