// Collects mistakes by instruction address while kernels run, and turns them into reports
// by source line.
//
// A mistake in a loop may occur a thousand times: it is stored once for each pair of
// instruction addresses, with a count. take() looks up the source lines, after the
// kernels have run.

#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "libmini/extras/cudasim/report.hpp"

namespace mini::sim {

class Findings {
  public:
    /// If this mistake is already known at these addresses, counts it and returns true.
    bool met(Mistake mistake, const void* at, const void* other);
    /// Adds a mistake, or counts it if it is known at these addresses.
    void add(Mistake mistake, Place at, Place other, std::string message);

    /// Returns one report for each kind of mistake and source line, in the order of the
    /// first occurrences, and clears the findings. Leaves out uninitialised reads and notes
    /// that a reported race explains.
    std::vector<Report> take();

  private:
    using Key = std::tuple<Mistake, const void*, const void*>;

    std::mutex mutex_;
    std::vector<Report> findings_;
    std::map<Key, size_t> known_;  // index into findings_
};

}  // namespace mini::sim
