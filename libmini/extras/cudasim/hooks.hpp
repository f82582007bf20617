// Functions by which the simulator, instrumented kernels and the device functions of
// language.hpp report to the inspector. Without an inspector, a call costs one test of a
// pointer.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libmini/extras/cudasim/launch.hpp"
#include "libmini/extras/cudasim/order.hpp"

namespace mini::sim {

struct Allocation;  // memory.hpp
struct Inspector;

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

void allocated(const Allocation& allocation);
void freed(const Allocation& allocation);
/// Called on the thread that submitted an operation to a stream.
void operation_given(Operation& operation);
/// Called before and after an operation, and all its blocks, on the thread that runs it.
void operation_begins(const Operation& operation);
void operation_ends(const Operation& operation);
/// Every operation before `clock` is done, and the host has waited for it.
void host_waited(const Clock& clock);

// On the host thread that runs the blocks of a kernel:

/// Returns the order in which the blocks of a launch run.
std::vector<uint32_t> block_order(uint32_t blocks);
void block_begins(const Launch& launch, unsigned block);
void block_ends();
/// All threads of the block that have not exited are at __syncthreads().
void block_synchronized(std::span<const ThreadState> states);
/// All lanes of `mask` in the warp of a thread that have not exited are in the same warp
/// operation.
void warp_synchronized(unsigned thread, unsigned mask);
/// Called before warp_synchronized() for each thread that reads the value of lane `from`
/// by the call that returns to `address`; this lane is in the mask and has exited.
void lane_exited(unsigned thread, const void* address, int from);
/// No thread of the block can continue: the launch fails.
void block_stuck(std::span<const ThreadState> states);

// On the fiber of a simulated thread:

void access(const MemoryAccess& access);
/// Reports an index outside of an array, and ends the thread if it must not go on.
void index(const std::string& what, const void* address);
void fence(Scope scope);  // also without an inspector
void exchange(unsigned mask, int from, const void* address);

}  // namespace tell

/// Returns an address in the call instruction that returns to `return_address`.
inline const void* instruction_before(void* return_address) {
    return static_cast<const char*>(__builtin_extract_return_addr(return_address)) - 1;
}

/// Reports an atomic operation of the running thread, which the instrumentation does not
/// report. The return address gives the source line, so the caller must be inlined.
__attribute__((noinline)) void note_atomic(const void* pointer, size_t bytes);

/// Reports a shuffle or a vote: its mask, and the lane whose value is read (-1: a vote).
__attribute__((noinline)) void note_exchange(unsigned mask, int from);

}  // namespace mini::sim
