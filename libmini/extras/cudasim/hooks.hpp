// Functions by which the simulator, instrumented kernels and the device functions of
// language.hpp report to the inspector, and its settings. Without an inspector, a call costs one
// test of a pointer.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/extras/cudasim/launch.hpp"

namespace mini::sim {

struct Allocation;  // memory.hpp
struct Inspector;

/// Returns the integer in an environment variable, or `default_value` if it is not set.
/// Throws UsageError if the value is not an integer in [min, max].
inline size_t setting(const char* name, size_t default_value, size_t min, size_t max) {
    const char* const text = std::getenv(name);
    if (text == nullptr || *text == '\0') return default_value;
    char* end = nullptr;
    const unsigned long long value = std::strtoull(text, &end, 10);
    if (*end != '\0' || *text == '-' || value < min || value > max)
        throw UsageError(name, "=", text, ": must be an integer from ", min, " to ", max);
    return value;
}

/// Returns MINI_SIM_BLOCK_SEED, 1 by default: the seed of the order in which the checker runs
/// the blocks of a launch. CUDA promises none: a kernel must be right in every order. Throws
/// UsageError if it is not an integer.
inline uint64_t block_seed() {
    static const uint64_t seed = setting("MINI_SIM_BLOCK_SEED", 1, 0, 0xffffffff);
    return seed;
}

/// Returns the numbers 0 to blocks - 1 in an order drawn from `seed`, or in ascending
/// order if the seed is 0. The order is the same on every machine.
std::vector<uint32_t> order_of_blocks(uint32_t blocks, uint64_t seed);

/// The program's inspector (inspector.hpp), or null. REQUIRES, to replace it: no operation
/// is queued or running.
inline std::atomic<Inspector*> installed_inspector = nullptr;

inline bool is_inspected() {
    return installed_inspector.load(std::memory_order_relaxed) != nullptr;
}

// What the simulator and instrumented kernels tell the inspector. REQUIRES, for all of these
// functions: is_inspected(). They must not call the CUDA interface.
namespace tell {

// On any thread, and concurrently for different devices:

void allocated_or_freed(const Allocation& allocation);
/// Called on the thread that submitted an operation to a stream.
void operation_given(Operation& operation);
/// Called before and after an operation, and all its blocks, on the thread that runs it.
void operation_begins(const Operation& operation);
void operation_ends(const Operation& operation);
/// Every operation before `clock` is done, and the host has waited for it.
void host_waited(const Clock& clock);
/// CUDA refuses the running call: of a kernel, or another if it is null.
void refused(const char* why, const void* kernel = nullptr);

// On the host thread that runs the blocks of a kernel:

/// Returns the seed of the order in which the blocks of a launch run.
uint64_t seed_of_blocks();
/// A block begins, or continues after grid.sync().
void block_begins(const Launch& launch, unsigned block, bool continues);
/// All blocks have ended or are at grid.sync().
void grid_synchronized();
void block_ends();
/// All threads of the block that have not exited are at __syncthreads().
void block_synchronized(std::span<const ThreadState> states);
/// All lanes of `mask` in the warp of a thread that have not exited are in the same warp
/// operation.
void warp_synchronized(unsigned thread, unsigned mask);
/// Called before warp_synchronized() if two threads are in different operations: of a
/// shuffle, a vote and __syncwarp().
void lanes_differ(std::span<const ThreadState> states, unsigned thread, unsigned other);
/// Called before warp_synchronized() for each thread that reads the value of lane `from`
/// by the call at `address`; this lane is in the mask and has exited.
void lane_exited(unsigned thread, const void* address, int from);
/// No thread of the block can continue: the launch fails.
void block_stuck(std::span<const ThreadState> states);

// On the fiber of a simulated thread:

void access(const MemoryAccess& access);
/// Called before a warp operation by the call at `address`: its mask, and the lane whose value
/// is read, or a negative number.
void warp_operation(unsigned mask, int from, const void* address);
/// Reports an index outside of an array, whose type is `array`, and ends the thread if it must not
/// go on.
void index(int64_t index, const char* array, const void* address);

}  // namespace tell

/// An address in the instruction that called the function.
#define MINI_CALL \
    static_cast<const void*>(static_cast<const char*>(__builtin_return_address(0)) - 1)

// What the device functions of language.hpp tell. Without an inspector, they do nothing. The
// return address gives the source line, so the caller must be inlined.

/// An atomic operation of the running thread, which the instrumentation does not report.
__attribute__((noinline)) void note_atomic(const void* pointer, size_t bytes);
void note_fence(Scope scope);

}  // namespace mini::sim
