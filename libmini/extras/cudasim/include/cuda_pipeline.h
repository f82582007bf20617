// Asynchronous copies from global to shared memory, on the simulator: each copy lands at
// the __pipeline_wait_prior() of the thread that started it (async_copy.hpp).

#pragma once

#include <cstddef>

#include "libmini/extras/cudasim/language.hpp"
#include "libmini/extras/cudasim/pipeline.hpp"

/// Starts a copy of 4, 8 or 16 bytes from global to shared memory. The last `zeros` bytes
/// of the destination are set to zero instead; their source is not read. REQUIRES: both
/// pointers are aligned to `bytes`; this thread keeps both until it has waited.
__attribute__((always_inline)) inline void __pipeline_memcpy_async(void* shared,
                                                                   const void* global,
                                                                   size_t bytes,
                                                                   size_t zeros = 0) {
    mini::sim::start_copy(shared, global, bytes, zeros);
}

/// Makes a group of the copies that this thread has started since its last commit.
inline void __pipeline_commit() { mini::sim::commit_copies(); }

/// Waits for all of this thread's groups but the last `groups`. Other threads see the
/// data after a barrier that follows.
__attribute__((always_inline)) inline void __pipeline_wait_prior(size_t groups) {
    mini::sim::wait_for_copies(groups);
}
