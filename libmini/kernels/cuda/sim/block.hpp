// One block of simulated threads: each CUDA thread is a fiber, a block is one thread of the
// host, and barriers and warp exchanges switch from fiber to fiber.
//
//     fiber 0   runs ... __syncthreads() |                    | runs on ...
//     fiber 1            runs ... __syncthreads() |           |
//     fiber 2                     runs ... __syncthreads()    |
//
// Device code calls these through the words of language.hpp.

#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>

#include "libmini/kernels/cuda/sim/api.hpp"

namespace mini::sim {

/// Where the running fiber stands in its grid.
struct Coordinates {
    dim3 thread_index, block_index, block_extent, grid_extent;
    unsigned thread = 0;  // its number in the block, x fastest
};

/// Those of the fiber that runs on this thread of the host.
Coordinates& running();

/// Waits for all threads of the block, or for those of `mask` of the warp.
void block_barrier();
void warp_barrier(unsigned mask);

/// The lane of the running fiber in its warp.
inline int lane() { return static_cast<int>(running().thread % 32); }

/// The bits that the lane `from` gives while all lanes of `mask` give theirs.
uint64_t exchange_bits(unsigned mask, uint64_t bits, int from);
template <typename T>
T exchange(unsigned mask, T value, int from) {
    static_assert(sizeof(T) <= sizeof(uint64_t));
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    bits = exchange_bits(mask, bits, from);
    std::memcpy(&value, &bits, sizeof(T));
    return value;
}

/// Bit i says what lane i of `mask` gave.
unsigned ballot(unsigned mask, bool predicate);

/// The block's dynamic shared memory.
std::byte* dynamic_shared();

template <typename T>
T atomic_add(T* address, T value) {
    return std::atomic_ref<T>(*address).fetch_add(value);
}
template <typename T>
T atomic_max(T* address, T value) {
    const std::atomic_ref<T> target(*address);
    T seen = target.load();
    while (seen < value && !target.compare_exchange_weak(seen, value)) {
    }
    return seen;
}

/// What a launch is: its extents, and a body that each thread runs.
struct Launch {
    dim3 grid, block;
    size_t shared_bytes = 0;
    const void* kernel = nullptr;  // its address, which names it
    std::function<void()> body;
};

/// Puts a launch into a stream; the error a wrong configuration gives.
cudaError_t enqueue(Launch launch, cudaStream_t stream);

/// Runs all blocks of a launch, on the threads of core/parallel.hpp.
void run_grid(const Launch& launch);

}  // namespace mini::sim
