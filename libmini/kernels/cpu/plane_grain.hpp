// Pooling divides whole planes among the threads.

#pragma once

#include <algorithm>
#include <cstdint>

#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cpu {

/// Returns the number of input planes (H, W) per chunk of work: about 16,384 elements.
inline int64_t planes_per_chunk(const ImageExtents& in) {
    constexpr int64_t kGrain = 16384;
    return std::max<int64_t>(1, kGrain / std::max<int64_t>(1, in.H * in.W));
}

}  // namespace mini::kernels::cpu
