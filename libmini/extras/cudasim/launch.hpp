// The types that blocks, streams and the checker share: a launch, the coordinates and
// states of its threads, and the kinds of memory access.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "libmini/extras/cudasim/types.hpp"

namespace mini::sim {

/// A kernel launch: its extents, and a body that each thread runs.
struct Launch {
    dim3 grid, block;
    size_t shared_bytes = 0;
    const void* kernel = nullptr;  // the function's address, which identifies the kernel
    std::function<void()> body;
};

/// Returns the number of threads of a block.
inline unsigned threads_of(const Launch& launch) {
    return launch.block.x * launch.block.y * launch.block.z;
}

/// Returns the coordinates of linear index `i`, x fastest.
inline dim3 unravel(unsigned i, dim3 extent) {
    return {i % extent.x, i / extent.x % extent.y, i / (extent.x * extent.y)};
}

/// A thread's position in its grid, and the number of barriers that the thread has
/// passed.
struct Coordinates {
    dim3 thread_index, block_index, block_extent, grid_extent;
    unsigned thread = 0;         // linear index in the block, x fastest
    unsigned block = 0;          // linear index of the block in the grid, x fastest
    uint32_t barriers = 0;       // number of __syncthreads() passed
    uint32_t warp_barriers = 0;  // number of warp operations passed
};

/// The state of one thread when its block is stuck or passes a barrier.
struct ThreadState {
    enum class At { kRunning, kBlockBarrier, kWarpBarrier, kExited };
    At at = At::kRunning;
    const void* address =
        nullptr;        // return address of the call that waits, in the kernel
    unsigned mask = 0;  // kWarpBarrier: the mask of the warp operation
};

/// The kind of a memory access.
enum class Mode { kRead, kWrite, kAtomic };

/// One load, store or atomic operation of a simulated thread.
struct MemoryAccess {
    const void* pointer = nullptr;
    size_t bytes = 0;
    size_t alignment = 1;  // of which the instruction needs the address to be a multiple
    Mode mode = Mode::kRead;
    const void* address = nullptr;  // of the instruction
    bool is_volatile = false;

    uintptr_t at() const { return reinterpret_cast<uintptr_t>(pointer); }
};

/// The threads for which a fence orders accesses.
enum class Scope { kBlock, kDevice };

/// Returns "reads", "writes" or "updates".
inline const char* verb(Mode mode) {
    return mode == Mode::kRead ? "reads" : mode == Mode::kWrite ? "writes" : "updates";
}

}  // namespace mini::sim
