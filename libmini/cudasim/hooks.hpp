// Where the instrumentation of kernels, and the words of language.hpp, tell what a thread of
// a block does. Without an inspector each is one test of a flag.

#pragma once

#include <atomic>
#include <cstddef>

#include "libmini/cudasim/launch.hpp"

namespace mini::sim {

/// Whether there is an inspector at all.
extern std::atomic<bool> inspected;

namespace detail {
void tell_access(const void* pointer, size_t bytes, Mode mode, const void* address);
void tell_fence();
void tell_exchange(unsigned mask, int from, const void* address);
}  // namespace detail

/// An atomic operation of the running thread, of which the instrumentation sees nothing.
/// Called where the operation stands in the source.
__attribute__((noinline)) void note_atomic(const void* pointer, size_t bytes);

/// __threadfence().
inline void note_fence() {
    if (inspected.load(std::memory_order_relaxed)) detail::tell_fence();
}

/// A shuffle or a vote: its mask, and the lane whose value is asked for.
__attribute__((noinline)) void note_exchange(unsigned mask, int from);

}  // namespace mini::sim
