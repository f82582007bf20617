// Functions by which instrumented kernels and the device functions of language.hpp report
// each access of a simulated thread. Without an inspector, a call costs one test of a
// pointer.

#pragma once

#include <atomic>
#include <cstddef>

#include "libmini/extras/cudasim/launch.hpp"

namespace mini::sim {

class Inspector;

/// The program's inspector (inspector.hpp), or null. REQUIRES, to replace it: no operation
/// is queued or running.
inline std::atomic<Inspector*> installed_inspector = nullptr;

inline bool is_inspected() {
    return installed_inspector.load(std::memory_order_relaxed) != nullptr;
}
inline Inspector* inspector() {
    return installed_inspector.load(std::memory_order_acquire);
}

namespace detail {
void tell_access(const MemoryAccess& access);
void tell_fence(Scope scope);
void tell_exchange(unsigned mask, int from, const void* address);
}  // namespace detail

/// Returns an address in the call instruction that returns to `return_address`.
inline const void* instruction_before(void* return_address) {
    return static_cast<const char*>(__builtin_extract_return_addr(return_address)) - 1;
}

/// Reports an atomic operation of the running thread, which the instrumentation does not
/// report. The return address gives the source line, so the caller must be inlined.
__attribute__((noinline)) void note_atomic(const void* pointer, size_t bytes);

/// Reports __threadfence() and __threadfence_block().
inline void note_fence(Scope scope) {
    if (is_inspected()) detail::tell_fence(scope);
}

/// Reports a shuffle or a vote: its mask, and the lane whose value is read (-1: a vote).
__attribute__((noinline)) void note_exchange(unsigned mask, int from);

}  // namespace mini::sim
