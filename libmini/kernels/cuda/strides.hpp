// Where element number i of a shape lies in arrays of given strides, on the device.
//
// Dimensions that can be one are merged on the host (cpu/strided.hpp); those that remain
// travel to the kernel by value. Finding a place takes a division a dimension, which a GPU
// has no instruction for: numbers below 2^31 are divided by a multiplication instead.
//
//     i / d  =  (i m / 2^32 + i) / 2^s     s = ceil(log2 d)     m = 2^32 (2^s - d) / d + 1
//
// Granlund and Montgomery 1994, "Division by invariant integers using multiplication".
//
// Included by .cu files alone.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "libmini/kernels/cpu/strided.hpp"
#include "libmini/kernels/cuda/launch.hpp"

namespace mini::kernels::cuda {

/// Division by a number that the host knows, where 0 counts as 1. REQUIRES: with uint32_t,
/// the divisor and all that is divided below 2^31.
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

/// Whether n elements can be numbered with 32 bits.
inline bool is_small(int64_t n) { return n <= std::numeric_limits<int32_t>::max(); }

constexpr size_t kMostDims = 8;

/// The merged dimensions of a shape and its strides in `kArrays` arrays, innermost first.
template <size_t kArrays, typename Index>
struct Places {
    size_t dims = 0;
    Divider<Index> extents[kMostDims];
    int64_t strides[kMostDims][kArrays] = {};

    /// Element number i lies at offsets[k] in array k.
    __device__ void find(Index i, int64_t (&offsets)[kArrays]) const {
        for (size_t k = 0; k < kArrays; ++k) offsets[k] = 0;
        for (size_t d = 0; d < dims; ++d) {
            const Index rest = extents[d].quotient(i);
            const auto place = static_cast<int64_t>(i - rest * extents[d].divisor);
            for (size_t k = 0; k < kArrays; ++k) offsets[k] += place * strides[d][k];
            i = rest;
        }
    }
};

/// The places of the `dims` innermost dimensions of a loop.
template <typename Index, size_t kArrays>
Places<kArrays, Index> places_of(const cpu::StridedLoop<kArrays>& loop, size_t dims) {
    Places<kArrays, Index> places;
    places.dims = dims;
    for (size_t d = 0; d < dims; ++d) {
        places.extents[d] = Divider<Index>(loop.dimensions()[d].extent);
        for (size_t k = 0; k < kArrays; ++k)
            places.strides[d][k] = loop.dimensions()[d].strides[k];
    }
    return places;
}

/// Calls body(n, first, offsets) on the host, once for a loop of up to kMostDims
/// dimensions, otherwise once for each place of the outer ones: the n elements from number
/// `first` on, which lie from offsets[k] on in array k.
template <size_t kArrays, typename Body>
void for_each_part(const cpu::StridedLoop<kArrays>& loop, const Body& body) {
    const auto& dimensions = loop.dimensions();
    int64_t n = 1, parts = 1;
    for (size_t d = 0; d < dimensions.size(); ++d)
        (d < kMostDims ? n : parts) *= dimensions[d].extent;
    if (n == 0) return;
    for (int64_t part = 0; part < parts; ++part) {
        std::array<int64_t, kArrays> offsets{};
        int64_t rest = part;
        for (size_t d = kMostDims; d < dimensions.size(); ++d) {
            const int64_t i = rest % dimensions[d].extent;
            rest /= dimensions[d].extent;
            for (size_t k = 0; k < kArrays; ++k)
                offsets[k] += i * dimensions[d].strides[k];
        }
        body(n, part * n, offsets);
    }
}

}  // namespace mini::kernels::cuda
