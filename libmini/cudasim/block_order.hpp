// The order of the accesses of one launch. An earlier access happens before a later one
// if both are made by
//
//     two threads of a block     and a __syncthreads() is between them
//     two lanes of a warp        or a __syncwarp(), shuffle or vote of both lanes is
//     two blocks                 and the later block has read, with an atomic, an address
//                                that the earlier one published with __threadfence() and
//                                an atomic
//
// Lanes have vector clocks (Lamport 1978, Mattern 1989): clock[t][l] is the number of
// warp operations of lane l that happened before thread t's next access.

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
        seen_;  // blocks whose published addresses this one has read
};

}  // namespace mini::sim
