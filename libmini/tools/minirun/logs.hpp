// Where the ranks' output goes: onto the screen, into files, or both.
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
    /// Creates no file yet. Without a --log-dir, a folder of `job` under /tmp.
    Logs(const Options& options, const Job& job);

    /// Whether any rank has a log.
    bool any() const { return !options_.tee.empty() || !options_.redirects.empty(); }

    /// The folder of this attempt's logs.
    const std::string& folder() const { return folder_; }

    /// The source of a rank's stdout (bit 1) or stderr (bit 2) with its log opened.
    /// Throws Error.
    Output::Source source(int local_rank, int bit, Descriptor pipe) const;

    /// The log of a rank's stderr, "" when it has none.
    std::string stderr_path(int local_rank) const;

  private:
    bool logged(int local_rank, int bit) const;
    std::string path(int local_rank, int bit) const;

    const Options& options_;
    std::string folder_;
};

}  // namespace mini::tools
