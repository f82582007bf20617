// Mistakes as they are met, by addresses, and as reports, by lines of source.
//
// A mistake in a loop is met a thousand times: it is kept once for each pair of addresses in
// the program, with a count. Lines are looked up when reports are asked for, never while a
// kernel runs.

#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "libmini/cudasim/report.hpp"
#include "libmini/cudasim/types.hpp"

namespace mini::sim {

/// Who did something, and where in the program.
struct Party {
    const void* address = nullptr;  // null: not known
    std::string kernel;
    dim3 block{0, 0, 0}, thread{0, 0, 0};
};

struct Finding {
    Mistake mistake = Mistake::kOutOfBounds;
    Party at, other;
    std::string message;
    size_t count = 1;
};

class Findings {
  public:
    /// Counts a mistake that was met before at these addresses. False: it is new, to be added.
    bool met(Mistake mistake, const void* at, const void* other);
    void add(Mistake mistake, Party at, Party other, std::string message);

    /// One report for each kind and line, in the order they were met, and forgets them.
    /// What follows from another mistake is left out: uninitialised reads that were a race.
    std::vector<Report> take();

  private:
    using Key = std::tuple<Mistake, const void*, const void*>;

    std::mutex mutex_;
    std::vector<Finding> findings_;
    std::map<Key, size_t> known_;  // index into findings_
};

}  // namespace mini::sim
