// Asynchronous copies from global to shared memory, on the simulator: the calling thread
// copies immediately, so that the checker sees the accesses.

#pragma once

#include <cstddef>

#include "libmini/cudasim/language.hpp"

/// Copies 4, 8 or 16 bytes from global to shared memory. The last `zeros` bytes of the
/// destination are set to zero instead; their source is not read. REQUIRES: both pointers
/// are aligned to `bytes`.
inline void __pipeline_memcpy_async(void* shared, const void* global, size_t bytes,
                                    size_t zeros = 0) {
    auto* to = static_cast<unsigned*>(shared);
    const auto* from = static_cast<const unsigned*>(global);
    if (bytes == sizeof(uint4) && zeros == 0) {
        *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(from);
        return;
    }
    const size_t words = bytes / sizeof(unsigned);
    const size_t copied = (bytes - zeros) / sizeof(unsigned);
    for (size_t i = 0; i < words; ++i) to[i] = i < copied ? from[i] : 0u;
}

inline void __pipeline_commit() {}
inline void __pipeline_wait_prior(size_t) {}
