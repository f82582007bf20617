// Vectors with 8 lanes for each of 1 or 2 images.
//
// The direct convolutions compute 8 neighbours of a row at a time. If a register has 16
// lanes (AVX-512), the other 8 have the same elements of the next image:
//
//     WideVector   [ x0 x1 .. x7 of image n | x0 x1 .. x7 of image n + 1 ]
//
// So a tile has the same rows and columns with every processor. If the number of images is
// odd, the last one is computed in vectors of 8 lanes.

#pragma once

#include <cstdint>
#include <cstring>

#include "libmini/extras/fast/vector.hpp"

namespace mini::kernels::cpu {

/// The number of images in a vector V.
template <typename V>
constexpr int64_t kImagesOf = sizeof(V) / sizeof(Vector);

/// Loads 8 floats of each image; the images are `step` floats apart.
template <typename V>
inline V load_images(const float* from, [[maybe_unused]] int64_t step) {
    if constexpr (kImagesOf<V> == 1) {
        return load<V>(from);
    } else {
        Vector first, second;
        std::memcpy(&first, from, sizeof first);
        std::memcpy(&second, from + step, sizeof second);
        V v = __builtin_shufflevector(first, second, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
                                      12, 13, 14, 15);
        MINI_KEEP_IN_REGISTER(v);
        return v;
    }
}

/// Stores 8 floats of each image.
template <typename V>
inline void store_images(float* to, [[maybe_unused]] int64_t step, V v) {
    if constexpr (kImagesOf<V> == 1) {
        store(to, v);
    } else {
        store(to, __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7));
        store(to + step, __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15));
    }
}

/// Calls visit(n, V{}) for the images begin to end - 1. With AVX-512, V is WideVector for
/// each pair n and n + 1, and Vector for a single last image; otherwise V is Vector.
template <typename Visit>
void for_each_vector_of_images(int64_t begin, int64_t end, const Visit& visit) {
    int64_t n = begin;
    for (; n + kImagesOf<WideVector> <= end; n += kImagesOf<WideVector>)
        visit(n, WideVector{});
    for (; n < end; ++n) visit(n, Vector{});
}

}  // namespace mini::kernels::cpu
