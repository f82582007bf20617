// Computes, on the device, the offset of element i of a shape in arrays with given
// strides.
//
// Adjacent dimensions are merged on the host if possible (cpu/strided.hpp); the remaining
// dimensions are passed to the kernel by value. An offset takes one division per
// dimension. A GPU has no instruction for integer division, so numbers below 2^31 are
// divided by a multiplication and a shift:
//
//     i / d  =  (i m / 2^32 + i) / 2^s    s = ceil(log2 d)    m = 2^32 (2^s - d) / d + 1
//
// Granlund and Montgomery 1994, "Division by invariant integers using multiplication".
//
// Included only by .cu files.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "libmini/kernels/cpu/strided.hpp"
#include "libmini/kernels/cuda/launch.hpp"

namespace mini::kernels::cuda {

/// Division by a divisor that is set on the host; a divisor of 0 counts as 1. REQUIRES:
/// with uint32_t, divisor and dividends are below 2^31.
template <typename Index>
struct Divider {
    Index divisor = 1;
    uint32_t multiplier = 1;
    uint32_t shift = 0;

    Divider() = default;
    explicit Divider(int64_t d) {
        d = std::max<int64_t>(d, 1);
        divisor = static_cast<Index>(d);
        if constexpr (std::is_same_v<Index, uint32_t>) {
            while ((int64_t{1} << shift) < d) ++shift;
            const uint64_t rest = (uint64_t{1} << shift) - static_cast<uint64_t>(d);
            multiplier =
                static_cast<uint32_t>((rest << 32) / static_cast<uint64_t>(d) + 1);
        }
    }

    __device__ Index quotient(Index i) const {
        if constexpr (std::is_same_v<Index, uint32_t>)
            return (__umulhi(i, multiplier) + i) >> shift;
        else
            return i / divisor;
    }
};

/// Returns whether the indices of n elements fit in 32 bits.
inline bool is_small(int64_t n) { return n <= std::numeric_limits<int32_t>::max(); }

constexpr size_t kMaxDims = 8;

/// The merged dimensions of a shape, and the strides of `kArrays` arrays, innermost
/// first.
template <size_t kArrays, typename Index>
struct OffsetCalculator {
    size_t dims = 0;
    Divider<Index> extents[kMaxDims];
    int64_t strides[kMaxDims][kArrays] = {};

    /// Sets offsets[k] to the offset in array k of the element with row-major index i.
    __device__ void find(Index i, int64_t (&offsets)[kArrays]) const {
        for (size_t k = 0; k < kArrays; ++k) offsets[k] = 0;
        for (size_t d = 0; d < dims; ++d) {
            const Index rest = extents[d].quotient(i);
            const auto index = static_cast<int64_t>(i - rest * extents[d].divisor);
            for (size_t k = 0; k < kArrays; ++k) offsets[k] += index * strides[d][k];
            i = rest;
        }
    }
};

/// Returns the OffsetCalculator of the `dims` innermost dimensions of a loop.
template <typename Index, size_t kArrays>
OffsetCalculator<kArrays, Index> offset_calculator(const cpu::StridedLoop<kArrays>& loop,
                                                   size_t dims) {
    OffsetCalculator<kArrays, Index> calculator;
    calculator.dims = dims;
    for (size_t d = 0; d < dims; ++d) {
        calculator.extents[d] = Divider<Index>(loop.dimensions()[d].extent);
        for (size_t k = 0; k < kArrays; ++k)
            calculator.strides[d][k] = loop.dimensions()[d].strides[k];
    }
    return calculator;
}

/// Calls body(n, first, offsets) on the host: once for a loop of up to kMaxDims
/// dimensions, otherwise once for each index of the outer dimensions. A call covers the n
/// elements from index `first` on, which begin at offsets[k] in array k.
template <size_t kArrays, typename Body>
void for_each_part(const cpu::StridedLoop<kArrays>& loop, const Body& body) {
    const auto& dimensions = loop.dimensions();
    int64_t n = 1, parts = 1;
    for (size_t d = 0; d < dimensions.size(); ++d)
        (d < kMaxDims ? n : parts) *= dimensions[d].extent;
    if (n == 0) return;
    for (int64_t part = 0; part < parts; ++part) {
        std::array<int64_t, kArrays> offsets{};
        int64_t rest = part;
        for (size_t d = kMaxDims; d < dimensions.size(); ++d) {
            const int64_t i = rest % dimensions[d].extent;
            rest /= dimensions[d].extent;
            for (size_t k = 0; k < kArrays; ++k)
                offsets[k] += i * dimensions[d].strides[k];
        }
        body(n, part * n, offsets);
    }
}

}  // namespace mini::kernels::cuda
