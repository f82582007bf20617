// One block of simulated threads: each CUDA thread is a fiber, all fibers of a block run
// on one host thread, and barriers and warp exchanges switch from fiber to fiber.
//
//     fiber 0   runs ... __syncthreads() |                    | resumes ...
//     fiber 1            runs ... __syncthreads() |           |
//     fiber 2                     runs ... __syncthreads()    |
//
// Barriers do not wait for exited threads, as on GPUs since Volta. A warp operation waits
// only for the lanes of its mask. When no thread of a block can continue, the launch
// fails with an error message that lists where the threads wait.
//
// Device code calls these functions through the CUDA names that language.hpp defines.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "libmini/extras/cudasim/launch.hpp"
#include "libmini/extras/cudasim/types.hpp"

namespace mini::sim {

/// Returns whether a simulated thread runs on this host thread.
bool in_kernel();

/// Returns the coordinates of the simulated thread that runs on this host thread, which device
/// code may read.
/// REQUIRES: a simulated thread runs here.
Coordinates& running();

/// Returns threadIdx (0), blockIdx (1), blockDim (2) or gridDim (3) of device code in direction
/// 0 to 2 (x, y, z). "pure": the compiler calls it again only after a store. A compiler that knew
/// that the value never changes would leave out accesses that the checker should see.
[[gnu::pure]] unsigned coordinate(unsigned which, unsigned direction) noexcept;
__attribute__((always_inline)) inline dim3 coordinates(unsigned which) {
    return {coordinate(which, 0), coordinate(which, 1), coordinate(which, 2)};
}

/// Returns whether `pointer` is an address in the running fiber's stack.
bool on_own_stack(const void* pointer);

/// Ends the running simulated thread immediately, as a GPU ends a kernel after an illegal
/// memory access.
[[noreturn]] void abandon_thread();

/// Lets the other threads of the block run that can.
void yield_thread();

/// Blocks until all threads of the block that have not exited have called this, then returns
/// the number of them that called it with true.
int block_barrier(bool predicate = false);

/// Blocks until all threads of the grid that have not exited have called this. REQUIRES, or the
/// launch fails: a cooperative launch.
void grid_barrier();

/// Returns the running thread's lane in its warp.
int lane();
/// Returns the mask of the warp's lanes that are in this call together, as after a barrier or in
/// a branch: lets the other threads of the block run first.
unsigned active_lanes();

/// Blocks until all lanes of `mask` in the warp that have not exited have called a warp
/// operation with the same mask, then returns the `bits` of lane `from`. If this lane is
/// not in the mask or has exited, which CUDA leaves undefined, returns all ones (NaN for
/// floats).
uint64_t exchange_bits(unsigned mask, uint64_t bits, int from);
template <typename T>
__attribute__((always_inline)) inline T exchange(unsigned mask, T value, int from) {
    uint64_t parts[(sizeof(T) + 7) / 8] = {};
    std::memcpy(parts, &value, sizeof(T));
    for (uint64_t& each : parts) each = exchange_bits(mask, each, from);
    std::memcpy(&value, parts, sizeof(T));
    return value;
}

/// Blocks like exchange_bits(), then returns a mask: bit i is set if lane i took part and
/// its predicate is true. The kinds of warp operations are shuffles, votes and barriers.
constexpr int kVote = -1, kBarrier = -2;
unsigned ballot(unsigned mask, bool predicate, int kind = kVote);

/// Returns the block's dynamic shared memory, aligned to 128 bytes.
std::byte* dynamic_shared();

/// Runs all blocks of a launch, on the threads of core/parallel.hpp, or one after the
/// other if an inspector is set (hooks.hpp) or the launch is cooperative. Blocks until they
/// have ended. Returns an error message, empty on success.
std::string run_grid(const Launch& launch);

}  // namespace mini::sim
