// Asynchronous copies from global to shared memory (cp.async), which land only when the
// thread that started them waits.
//
//     memcpy_async  memcpy_async  commit  memcpy_async  commit  wait_prior(1)
//     \_______ group 0 _______________/   \__ group 1 ______/   lands group 0 only
//
// On a GPU a copy lands at any time between its start and the wait. Here the destination
// is filled with bytes 0xff (a NaN in every float) at the start, and the data arrives at
// the wait: a kernel that reads too early computes NaN, also without the checker.

#pragma once

#include <cstddef>
#include <deque>
#include <vector>

namespace mini::sim {

/// One copy of 4, 8 or 16 bytes, whose last `zeros` bytes are set to zero instead.
struct AsyncCopy {
    void* to = nullptr;
    const void* from = nullptr;
    size_t bytes = 0;
    size_t zeros = 0;
    const void* address = nullptr;  // of the call that started the copy
};

/// The copies that one thread has started and not yet waited for.
class AsyncCopies {
  public:
    void start(const AsyncCopy& copy) { copies_.push_back(copy); }

    /// Makes a group of the copies started since the last commit.
    void commit();

    /// Removes the copies of all groups but the last `groups`, and returns them in the
    /// order of their start. Copies that are in no group yet stay.
    std::vector<AsyncCopy> take(size_t groups);

    const std::vector<AsyncCopy>& in_flight() const { return copies_; }
    void clear();

  private:
    std::vector<AsyncCopy> copies_;
    std::deque<size_t> groups_;  // the number of copies of each group
    size_t grouped_ = 0;         // the sum of groups_
};

}  // namespace mini::sim
