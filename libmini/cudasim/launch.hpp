// What a launch is, where its threads stand, and how they use memory: what blocks,
// streams and the checker share.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "libmini/cudasim/types.hpp"

namespace mini::sim {

/// What a launch is: its extents, and a body that each thread runs.
struct Launch {
    dim3 grid, block;
    size_t shared_bytes = 0;
    const void* kernel = nullptr;  // its address, which names it
    std::function<void()> body;
};

/// Where a thread stands in its grid.
struct Coordinates {
    dim3 thread_index, block_index, block_extent, grid_extent;
    unsigned thread = 0;         // its number in the block, x fastest
    unsigned block = 0;          // the block's number in the grid, x fastest
    uint32_t barriers = 0;       // how many __syncthreads() it has passed
    uint32_t warp_barriers = 0;  // how many operations of its warp
};

/// Where a thread of a block stands when the block cannot go on, or passes a barrier.
struct ThreadState {
    enum class At { kRunning, kBlockBarrier, kWarpBarrier, kExited };
    At at = At::kRunning;
    const void* address = nullptr;  // in the kernel, after the call that waits
    unsigned mask = 0;              // of a warp's barrier
};

/// How a thread uses memory.
enum class Mode { kRead, kWrite, kAtomic };

}  // namespace mini::sim
