// Computes, on the device, the offset of element i of a shape in arrays with given
// strides.
//
// Adjacent dimensions are merged on the host if possible (cpu/strided.hpp); the remaining
// dimensions are passed to the kernel by value. An offset takes one division per
// dimension. A GPU has no instruction for integer division, so numbers below 2^31 are
// divided by a multiplication and a shift; only larger ones are divided by a function:
//
//     i / d  =  (i m / 2^32 + i) / 2^s    s = ceil(log2 d)    m = 2^32 (2^s - d) / d + 1
//
// Granlund and Montgomery 1994, "Division by invariant integers using multiplication".
//
// Included only by .cu files.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "libmini/core/error.hpp"
#include "libmini/kernels/cpu/strided.hpp"
#include "libmini/kernels/cuda/launch.hpp"

namespace mini::kernels::cuda {

/// Division by a divisor that is set on the host; a divisor of 0 counts as 1.
struct Divider {
    int64_t divisor = 1;
    uint32_t multiplier = 1;  // 0 if the divisor has more than 31 bits
    uint32_t shift = 0;

    Divider() = default;
    explicit Divider(int64_t d) : divisor(std::max<int64_t>(d, 1)) {
        if (divisor > kMaxFast) {
            multiplier = 0;
            return;
        }
        while ((int64_t{1} << shift) < divisor) ++shift;
        const auto small = static_cast<uint64_t>(divisor);
        const uint64_t rest = (uint64_t{1} << shift) - small;
        multiplier = static_cast<uint32_t>((rest << 32) / small + 1);
    }

    struct Parts {
        int64_t quotient, rest;
    };
    __device__ Parts divide(int64_t i) const {
        int64_t quotient = 0;
        if (i <= kMaxFast && multiplier != 0) {
            const auto small = static_cast<uint32_t>(i);
            quotient = (__umulhi(small, multiplier) + small) >> shift;
        } else {
            quotient = i / divisor;
        }
        return {quotient, i - quotient * divisor};
    }

    static constexpr int64_t kMaxFast = (int64_t{1} << 31) - 1;
};

/// The windows of a convolution or a pooling that contain a place of one axis, counted
/// with the padding: from first(place) to before end(place).
struct Windows {
    int64_t kernel, count;
    Divider stride;

    __device__ int64_t first(int64_t place) const {
        return place < kernel ? 0 : stride.divide(place - kernel).quotient + 1;
    }
    __device__ int64_t end(int64_t place) const {
        return min(count, stride.divide(place).quotient + 1);
    }
};

constexpr size_t kMaxDims = 16;

/// The merged dimensions of a shape, and the strides of `kArrays` arrays, innermost
/// first.
template <size_t kArrays>
struct OffsetCalculator {
    size_t dims = 0;
    Divider extents[kMaxDims];
    int64_t strides[kMaxDims][kArrays] = {};

    /// Throws Error if the loop has more than kMaxDims dimensions.
    explicit OffsetCalculator(const cpu::StridedLoop<kArrays>& loop) {
        MINI_CHECK(loop.dimensions().size() <= kMaxDims, "a GPU kernel supports ",
                   kMaxDims, " dimensions, but these strides need ",
                   loop.dimensions().size(), "; call contiguous() on the CPU first");
        for (const auto& dimension : loop.dimensions()) {
            extents[dims] = Divider(dimension.extent);
            for (size_t k = 0; k < kArrays; ++k) strides[dims][k] = dimension.strides[k];
            ++dims;
        }
    }

    /// Sets offsets[k] to the offset in array k of the element with row-major index i.
    __device__ void find(int64_t i, int64_t (&offsets)[kArrays]) const {
        for (size_t k = 0; k < kArrays; ++k) offsets[k] = 0;
        for (size_t d = 0; d < dims; ++d) {
            const auto [outer, index] = extents[d].divide(i);
            for (size_t k = 0; k < kArrays; ++k) offsets[k] += index * strides[d][k];
            i = outer;
        }
    }
};

}  // namespace mini::kernels::cuda
