// Vectors of 8 floats: the compiler's vector type, in one or several registers.
//
// Loops over arrays need none of this, because the compiler vectorises them. The kernels
// that include this file name the values that stay in registers.

#pragma once

#include <cstdint>
#include <cstring>

// Without AVX, vectors as arguments are passed in another way than with it, and GCC warns.
// It does not matter: each source that includes this file calls its own functions.
#pragma GCC diagnostic ignored "-Wpsabi"

#if defined(__AVX512F__)
#define MINI_KEEP_IN_REGISTER(v) asm("" : "+v"(v))
#elif defined(__AVX__)
#define MINI_KEEP_IN_REGISTER(v) asm("" : "+x"(v))
#else
#define MINI_KEEP_IN_REGISTER(v) static_cast<void>(v)
#endif

namespace mini::kernels::cpu {

/// The number of floats of a vector.
constexpr int64_t kLanes = 8;

using Vector [[gnu::vector_size(4 * kLanes)]] = float;

/// The number of floats of the widest register, and a vector of so many.
#if defined(__AVX512F__)
constexpr int64_t kWideLanes = 16;
#else
constexpr int64_t kWideLanes = kLanes;
#endif
using WideVector [[gnu::vector_size(4 * kWideLanes)]] = float;

/// Whether there are 32 vector registers, as with AVX-512; otherwise there are 16.
constexpr bool kHas32Registers = kWideLanes > kLanes;

/// The number of floats of a vector V.
template <typename V>
constexpr int64_t kLanesOf = sizeof(V) / sizeof(float);

/// The integers of a mask for vectors V: all bits or none.
template <typename V>
using BitsOf = decltype(V{} < V{});

/// Loads a vector into a register. GCC 12 would rather repeat the load in each of the
/// instructions that use the vector, which takes 1.7 times as long.
template <typename V = Vector, typename T>
inline V load(const T* from) {
    V v;
    std::memcpy(&v, from, sizeof v);
    MINI_KEEP_IN_REGISTER(v);
    return v;
}

template <typename V, typename T>
inline void store(T* to, V v) {
    std::memcpy(to, &v, sizeof v);
}

/// Returns a vector of equal floats.
template <typename V = Vector>
inline V broadcast(float value) {
    return value - V{};
}

/// Returns the sum of the lanes.
template <typename V>
float sum_of(V v) {
    float lanes[kLanesOf<V>];
    store(lanes, v);
    for (int64_t width = kLanesOf<V> / 2; width > 0; width /= 2)
        for (int64_t lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
    return lanes[0];
}

/// Returns a mask for a vector whose lanes have the elements first, ..., first + 7, each in
/// one lane or in two: all bits of the lanes whose element is at least `begin`.
template <typename V>
BitsOf<V> mask_from(int64_t begin, int64_t first) {
    BitsOf<V> element;
    for (int lane = 0; lane < kLanesOf<V>; ++lane)
        element[lane] = lane * static_cast<int>(kLanes) / static_cast<int>(kLanesOf<V>);
    return element >= static_cast<int32_t>(begin - first);
}

/// Returns v with zeros in the lanes that the mask leaves out.
template <typename V>
V masked(V v, BitsOf<V> mask) {
    return (V)((BitsOf<V>)v & mask);
}

}  // namespace mini::kernels::cpu
