// One block of simulated threads: each CUDA thread is a fiber, a block is one thread of the
// host, and barriers and warp exchanges switch from fiber to fiber.
//
//     fiber 0   runs ... __syncthreads() |                    | runs on ...
//     fiber 1            runs ... __syncthreads() |           |
//     fiber 2                     runs ... __syncthreads()    |
//
// Exited threads count as having arrived, as on GPUs since Volta. A warp's operation waits for
// the lanes of its mask alone. When no thread of a block can go on, the launch ends with an
// error that says where the threads stand.
//
// Device code calls these through the words of language.hpp.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "libmini/cudasim/launch.hpp"
#include "libmini/cudasim/types.hpp"

namespace mini::sim {

/// The coordinates of the fiber that runs on this thread of the host. REQUIRES: there is
/// one.
Coordinates& running();

/// Whether a simulated thread runs on this thread of the host.
bool inside_kernel();

/// The coordinates that device code asks for.
dim3 thread_index();
dim3 block_index();
dim3 block_extent();
dim3 grid_extent();

/// Whether this is an address of the running fiber's stack.
bool on_own_stack(const void* pointer);

/// Ends the running thread where it stands, as a GPU ends a kernel that touches memory that
/// is not its own.
[[noreturn]] void abandon_thread();

/// Waits for all threads of the block, or for those of `mask` of the warp.
void block_barrier();
void warp_barrier(unsigned mask);

/// The lane of the running fiber in its warp, and the lanes that have not exited.
int lane();
unsigned living_lanes();

/// The bits that the lane `from` gives while all lanes of `mask` give theirs; all ones where
/// that lane gives none, which CUDA leaves undefined: NaN for floats.
uint64_t exchange_bits(unsigned mask, uint64_t bits, int from);
template <typename T>
__attribute__((always_inline)) inline T exchange(unsigned mask, T value, int from) {
    static_assert(sizeof(T) <= sizeof(uint64_t));
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    bits = exchange_bits(mask, bits, from);
    std::memcpy(&value, &bits, sizeof(T));
    return value;
}

/// Bit i says what lane i of `mask` gave.
unsigned ballot(unsigned mask, bool predicate);

/// The block's dynamic shared memory, at a multiple of 128 bytes.
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

/// Runs all blocks of a launch: on the threads of core/parallel.hpp, or one after the other
/// while there is an observer (observer.hpp). Says what went wrong: empty when nothing did.
std::string run_grid(const Launch& launch);

}  // namespace mini::sim
