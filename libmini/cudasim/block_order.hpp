// The order of the accesses of one launch. An earlier access happens before a later
// access of the same thread, and before a later access of
//
//     another thread of the block    after a __syncthreads()
//     another lane of the warp       also after a __syncwarp(), shuffle or vote of both
//     another block                  after an atomic on an address on which the earlier
//                                    block executed an atomic after a __threadfence()
//
// Lanes have vector clocks (Lamport 1978, Mattern 1989): clocks_[t][l] is the number of
// warp operations of lane l, in the warp of thread t, that happened before t's next
// access.

#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "libmini/cudasim/shadow.hpp"

namespace mini::sim {

class BlockOrder {
  public:
    void begin_launch() { published_.clear(); }
    void begin_block(uint32_t block, unsigned threads);

    void block_met() { ++interval_; }
    void warp_met(unsigned thread, unsigned mask);
    void fence(unsigned thread) { fenced_[thread] = true; }
    void atomic(unsigned thread, uintptr_t address);

    uint32_t block() const { return block_; }
    uint32_t interval() const { return interval_; }
    uint32_t clock(unsigned thread) const { return clocks_[thread][thread % 32]; }

    /// Returns whether an earlier access of this launch happens before `thread`'s next
    /// access.
    bool precedes(const Access& earlier, unsigned thread) const;

  private:
    uint32_t block_ = 0;
    uint32_t interval_ = 0;
    std::vector<std::array<uint32_t, 32>> clocks_;  // by thread, by lane of its warp
    std::vector<bool> fenced_;
    std::unordered_map<uintptr_t, std::vector<uint32_t>>
        published_;  // blocks, by address
    std::unordered_set<uint32_t>
        seen_;  // blocks whose published addresses this block has read
};

}  // namespace mini::sim
