// Finds threads that wait in a loop for a value that never changes. Blocks run one after
// another under the checker, so a thread that waits for a block that has not begun waits
// forever; on a GPU it may, if that block is not resident.
//
// A thread spins if it reads the same value at the same address again and again, and
// accesses nothing else. From time to time it lets the other threads of its block run.

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "libmini/extras/cudasim/launch.hpp"

namespace mini::sim {

/// What a thread does after an access: it continues, lets the other threads of its block run
/// first, or ends because a GPU would end the kernel here.
enum class Next { kContinue, kYield, kAbandon };

class Spins {
  public:
    void begin_block(unsigned threads) { polls_.assign(threads, {}); }

    /// Counts an access of a thread that does not go to its own stack. A thread that has
    /// polled `limit` times spins forever. REQUIRES: the memory is accessible.
    Next access(unsigned thread, const MemoryAccess& access, uint32_t limit) {
        Poll& poll = polls_[thread];
        uint64_t value = 0;
        std::memcpy(&value, access.pointer, std::min(access.bytes, sizeof(value)));
        if (access.mode == Mode::kWrite || access.pointer != poll.pointer ||
            value != poll.value) {
            poll = {access.pointer, value, 0};
            return Next::kContinue;
        }
        ++poll.count;
        return poll.count >= limit             ? Next::kAbandon
               : poll.count % kYieldAfter == 0 ? Next::kYield
                                               : Next::kContinue;
    }

  private:
    static constexpr uint32_t kYieldAfter = 256;

    struct Poll {
        const void* pointer = nullptr;
        uint64_t value = 0;
        uint32_t count = 0;
    };

    std::vector<Poll> polls_;  // by thread
};

}  // namespace mini::sim
