// The functions of cuda_pipeline.h, for the copies of the running thread.

#pragma once

#include <cstddef>

namespace mini::sim {

// The return address gives the source line, so the callers must be inlined.

/// Starts a copy of the running thread. Throws Error if `bytes` is not 4, 8 or 16, or
/// `zeros` is larger than `bytes`.
__attribute__((noinline)) void start_copy(void* to, const void* from, size_t bytes,
                                          size_t zeros);
void commit_copies();
/// Lands the copies of all groups of the running thread but the last `groups`.
__attribute__((noinline)) void wait_for_copies(size_t groups);

}  // namespace mini::sim
