// The order of the accesses of one launch. An earlier access happens before a later
// access of the same thread, and before a later access of
//
//     another thread of the block    after a __syncthreads()
//     another lane of the warp       also after a __syncwarp(), shuffle or vote of both
//     any other thread               after an atomic on an address on which a thread
//                                    executed an atomic, if the earlier access happens
//                                    before a fence that happens before that atomic
//
// A fence does not order the writes that follow it. An atomic orders only its own thread,
// and a barrier passes the order on. CUDA asks for a second fence, which is not checked.
//
// Lanes have vector clocks (Lamport 1978, Mattern 1989): clocks_[t][l] is the number of
// warp operations and fences of lane l, in t's warp, that happened before t's next
// access.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "libmini/extras/cudasim/launch.hpp"
#include "libmini/extras/cudasim/shadow.hpp"

namespace mini::sim {

class BlockOrder {
  public:
    void begin_launch() { published_.clear(); }
    void begin_block(uint32_t block, unsigned threads);

    void block_met();
    void warp_met(unsigned thread, unsigned mask);
    void fence(unsigned thread, Scope scope);
    /// `shared` is whether the address is in the block's shared memory.
    void atomic(unsigned thread, uintptr_t address, bool shared);

    uint32_t block() const { return block_; }
    uint32_t interval() const { return interval_; }
    uint32_t clock(unsigned thread) const { return clocks_[thread][thread % 32]; }

    /// Returns those of the `lanes` that made an earlier access of this launch whose access
    /// does not happen before `thread`'s next access.
    uint32_t unordered_lanes(const Access& earlier, uint32_t lanes,
                             unsigned thread) const;

  private:
    // The accesses of one block that happen before some point.
    struct Past {
        uint32_t interval = 0;         // all accesses of earlier intervals
        std::vector<uint32_t> clocks;  // by thread: its accesses up to this clock
    };
    using Pasts = std::map<uint32_t, std::shared_ptr<const Past>>;  // by block

    // What atomics have ordered before a thread's next access, and the part of its past
    // that its next atomic publishes to the block and to the device.
    struct Knowledge {
        Pasts past, for_block, for_device;
    };

    static void join(Pasts& into, const Pasts& from);
    static void join(Knowledge& into, const Knowledge& from);
    static bool contains(const Pasts& pasts, const Access& access, unsigned thread);
    bool knows(unsigned thread, const Access& earlier, unsigned lane) const;
    Pasts past_of(unsigned thread) const;

    uint32_t block_ = 0;
    uint32_t interval_ = 0;
    std::vector<std::array<uint32_t, 32>> clocks_;  // by thread, by lane of its warp
    bool has_fences_ = false;         // whether the next two contain anything
    std::vector<Knowledge> threads_;  // since the last barrier
    Knowledge common_;                // of all threads, at the last barrier
    // By address: the pasts that atomics have published, to this block and to all.
    std::unordered_map<uintptr_t, Pasts> published_here_, published_;
};

}  // namespace mini::sim
