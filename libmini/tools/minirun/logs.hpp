// The destination of the ranks' output: the screen, log files, or both.
//
//     DIR/<run>/attempt_0/1/stdout.log     torchrun's layout: restart count, local rank

#pragma once

#include <string>

#include "libmini/tools/minirun/environment.hpp"
#include "libmini/tools/minirun/options.hpp"
#include "libmini/tools/minirun/output.hpp"

namespace mini::tools {

class Logs {
  public:
    /// Creates no file yet. Without --log-dir the folder is minirun-logs/<run> in the
    /// temporary directory (TMPDIR, default /tmp).
    Logs(const Options& options, const Job& job);

    /// Returns whether any rank has a log.
    bool any() const { return !options_.tee.empty() || !options_.redirects.empty(); }

    /// The folder of this attempt's logs.
    const std::string& folder() const { return folder_; }

    /// Returns the source of a rank's stdout (bit 1) or stderr (bit 2), with its log file
    /// opened. Throws Error.
    Output::Source source(int local_rank, int bit, Descriptor pipe) const;

    /// Returns the path of a rank's stderr log, or "" if it has none.
    std::string stderr_path(int local_rank) const;

  private:
    bool logged(int local_rank, int bit) const;
    std::string path(int local_rank, int bit) const;

    const Options& options_;
    std::string folder_;
};

}  // namespace mini::tools
