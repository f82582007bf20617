// The types that blocks, streams and the checker share: a launch, the coordinates and
// states of its threads, the kinds of memory access, and the operations in streams.

#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "libmini/extras/cudasim/types.hpp"

namespace mini::sim {

/// A range of addresses.
struct Region {
    std::byte* base = nullptr;
    size_t bytes = 0;

    bool contains(const void* pointer) const {
        return offset(reinterpret_cast<uintptr_t>(pointer)) < bytes;
    }
    /// Returns the distance of an address from the first.
    uintptr_t offset(uintptr_t at) const {
        return at - reinterpret_cast<uintptr_t>(base);
    }
};

/// A kernel launch: its extents, and a body that each thread runs.
struct Launch {
    dim3 grid, block;
    size_t shared_bytes = 0;
    bool cooperative = false;      // its blocks may synchronise
    const void* kernel = nullptr;  // the function's address, which identifies the kernel
    Region arguments = {};         // of which each thread makes its parameters
    std::function<void()> body;
};

/// Returns the number of threads of a block, or of blocks of a grid.
inline size_t count(dim3 extent) { return size_t{extent.x} * extent.y * extent.z; }
inline unsigned threads_of(const Launch& launch) {
    return static_cast<unsigned>(count(launch.block));
}

/// Returns the coordinates of linear index `i`, x fastest.
inline dim3 unravel(unsigned i, dim3 extent) {
    return {i % extent.x, i / extent.x % extent.y, i / (extent.x * extent.y)};
}

/// A thread's position in its grid.
struct Coordinates {
    dim3 thread_index, block_index, block_extent, grid_extent;
    unsigned thread = 0;  // linear index in the block, x fastest
    unsigned block = 0;   // linear index of the block in the grid, x fastest
};

/// The state of one thread when its block is stuck or passes a barrier.
struct ThreadState {
    enum class At { kRunning, kBlockBarrier, kWarpBarrier, kGridBarrier, kExited };
    At at = At::kRunning;
    const void* address = nullptr;  // of the call that waits, in the kernel
    unsigned mask = 0;              // kWarpBarrier: the mask of the warp operation
    bool operator==(const ThreadState&) const = default;
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

// Operations in streams, and their happens-before order: vector clocks over the streams and
// the host.
//
// Each stream is a timeline, and all host threads together are timeline 0. An operation's
// clock holds, for each timeline, the number of that timeline's operations that happen
// before the operation. Three calls give an order:
//
//     submit to a stream          after the stream's last operation, and after everything
//                                 that the host has waited for
//     stream waits for an event   after the operations before the event's record
//     host waits                  the host is after the stream's operations, or after the
//                                 operations before the event's record
//
// Two operations that access the same memory, at least one of them writing, must be
// ordered by these clocks; the order in which they ran by chance is not enough. Host
// threads share a timeline because the simulator cannot see the mutexes between them.

/// Identifies an operation: the count-th of its timeline.
struct Stamp {
    uint32_t timeline = 0;
    uint64_t count = 0;
};

/// clock[t] is the number of operations of timeline t that happen before the owner.
using Clock = std::vector<uint64_t>;

/// Returns whether the operation `earlier` happens before the owner of `clock`.
inline bool precedes(Stamp earlier, const Clock& clock) {
    return earlier.timeline < clock.size() && clock[earlier.timeline] >= earlier.count;
}

/// Sets clock[t] to the larger of both, for each timeline t.
inline void join(Clock& clock, const Clock& other) {
    if (clock.size() < other.size()) clock.resize(other.size());
    for (size_t i = 0; i < other.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

enum class OperationKind { kKernel, kCopy, kFill, kHostFunction, kMarker };
constexpr auto kLastOfMemory = OperationKind::kFill;  // the others access no memory

struct Stream;  // stream.hpp

/// An operation in a stream.
struct Operation {
    // Of the caller.
    OperationKind kind = OperationKind::kMarker;
    std::shared_ptr<const Launch> launch = nullptr;  // kernel
    void* to = nullptr;                              // copy or fill
    const void* from = nullptr;                      // copy
    std::shared_ptr<std::vector<std::byte>> staged =
        nullptr;  // copy: the source instead of `from`, if not null
    size_t bytes = 0;
    int value = 0;                      // fill
    void (*function)(void*) = nullptr;  // host function
    void* data = nullptr;

    // Of the stream.
    Stream* stream = nullptr;
    int device = 0;
    Stamp stamp = {};
    Clock clock = {};
    std::vector<std::shared_ptr<Operation>> after =
        {};  // dependencies, besides the previous operation of its stream
    bool done = false;
    std::chrono::steady_clock::time_point finished = {};

    const void* call = nullptr;  // that submitted it, if it is checked; null: unknown
};
using OperationPointer = std::shared_ptr<Operation>;

}  // namespace mini::sim
