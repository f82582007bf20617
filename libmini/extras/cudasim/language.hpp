// CUDA C++'s device language for a plain C++ compiler: keywords, coordinates, barriers,
// shuffles, votes, atomics, vector types and intrinsics.

#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "libmini/extras/cudasim/api.hpp"
#include "libmini/extras/cudasim/block.hpp"
#include "libmini/extras/cudasim/hooks.hpp"

// Always inlined, so that the checker sees the source line of the kernel.
#define MINI_WORD inline __attribute__((always_inline))

// Before a call: Clang does not merge it with the same call in another branch, which would
// make one barrier of two. For GCC see mini_simulated_kernels.
#ifdef __clang__
#define MINI_UNMERGED [[clang::nomerge]]
#else
#define MINI_UNMERGED
#endif

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __restrict__ __restrict
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))  // before or after __shared__
#define __constant__
// A block runs on one host thread, so exactly the threads of the block share a
// thread-local variable. Its initial value is constant, so it has no guard variable.
#define __shared__ static constinit thread_local

#define threadIdx (mini::sim::thread_index())
#define blockIdx (mini::sim::block_index())
#define blockDim (mini::sim::block_extent())
#define gridDim (mini::sim::grid_extent())

constexpr int warpSize = 32;

using std::max;
using std::min;

// A vector is loaded or stored in one access: copies use a compiler vector type, which
// the instrumentation reports as one access. clang-format off
#define MINI_VECTOR(name, bytes, type, ...)                                            \
    struct alignas(bytes) name {                                                       \
        using Whole [[gnu::vector_size(bytes), gnu::may_alias]] = type;                \
        type __VA_ARGS__;                                                              \
        name() = default;                                                              \
        MINI_WORD name(const name& other) { *this = other; }                           \
        MINI_WORD name& operator=(const name& other) {                                 \
            *reinterpret_cast<Whole*>(this) = *reinterpret_cast<const Whole*>(&other); \
            return *this;                                                              \
        }

MINI_VECTOR(float2, 8, float, x, y)
float2(float x, float y) : x(x), y(y) {}
}
;
MINI_VECTOR(float4, 16, float, x, y, z, w)
float4(float x, float y, float z, float w) : x(x), y(y), z(z), w(w) {}
}
;
MINI_VECTOR(int4, 16, int, x, y, z, w)
int4(int x, int y, int z, int w) : x(x), y(y), z(z), w(w) {}
}
;
MINI_VECTOR(uint4, 16, unsigned, x, y, z, w)
uint4(unsigned x, unsigned y, unsigned z, unsigned w) : x(x), y(y), z(z), w(w) {}
}
;
// clang-format on
#undef MINI_VECTOR
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
    return {x, y, z, w};
}

MINI_WORD void __syncthreads() { MINI_UNMERGED mini::sim::block_barrier(); }
MINI_WORD int __syncthreads_count(int predicate) {
    MINI_UNMERGED return mini::sim::block_vote(predicate != 0);
}
MINI_WORD int __syncthreads_or(int predicate) {
    return __syncthreads_count(predicate) != 0;
}
MINI_WORD int __syncthreads_and(int predicate) {
    return __syncthreads_count(!predicate) == 0;  // exited threads do not vote
}
MINI_WORD void __syncwarp(unsigned mask = 0xffffffffu) {
    MINI_UNMERGED mini::sim::warp_barrier(mask);
}
MINI_WORD void __threadfence() { mini::sim::note_fence(mini::sim::Scope::kDevice); }
MINI_WORD void __threadfence_block() { mini::sim::note_fence(mini::sim::Scope::kBlock); }

// Shuffles take any value of up to 8 bytes.
template <typename T>
MINI_WORD T __shfl_sync(unsigned mask, T value, int lane, int width = warpSize) {
    const int self = mini::sim::lane();
    const int from = (self & ~(width - 1)) | (lane & (width - 1));
    mini::sim::note_exchange(mask, from);
    return mini::sim::exchange(mask, value, from);
}
template <typename T>
MINI_WORD T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = warpSize) {
    const int self = mini::sim::lane();
    const int other = self ^ lanes;
    const int from = other < (self & ~(width - 1)) + width ? other : self;
    mini::sim::note_exchange(mask, from);
    return mini::sim::exchange(mask, value, from);
}
template <typename T>
MINI_WORD T __shfl_down_sync(unsigned mask, T value, unsigned lanes,
                             int width = warpSize) {
    const int self = mini::sim::lane();
    const int other = self + static_cast<int>(lanes);
    const int from = other < (self & ~(width - 1)) + width ? other : self;
    mini::sim::note_exchange(mask, from);
    return mini::sim::exchange(mask, value, from);
}
template <typename T>
MINI_WORD T __shfl_up_sync(unsigned mask, T value, unsigned lanes, int width = warpSize) {
    const int self = mini::sim::lane();
    const int other = self - static_cast<int>(lanes);
    const int from = other >= (self & ~(width - 1)) ? other : self;
    mini::sim::note_exchange(mask, from);
    return mini::sim::exchange(mask, value, from);
}
MINI_WORD unsigned __ballot_sync(unsigned mask, int predicate) {
    mini::sim::note_exchange(mask, -1);
    return mini::sim::ballot(mask, predicate != 0);
}
MINI_WORD int __any_sync(unsigned mask, int predicate) {
    return __ballot_sync(mask, predicate) != 0;
}
MINI_WORD int __all_sync(unsigned mask, int predicate) {
    return __ballot_sync(mask, !predicate) == 0;  // exited lanes do not vote
}

// Blocks run in parallel on host threads, so these functions use host atomics.
template <typename T>
MINI_WORD T atomicAdd(T* address, T value) {
    mini::sim::note_atomic(address, sizeof(*address));
    return mini::sim::atomic_add(address, value);
}
MINI_WORD int atomicMax(int* address, int value) {
    mini::sim::note_atomic(address, sizeof(*address));
    return mini::sim::atomic_max(address, value);
}
// clang-format off
#define MINI_DEVICE_ATOMICS(type)                                                             \
    MINI_WORD type atomicExch(type* address, type value) {                             \
        mini::sim::note_atomic(address, sizeof(type));                                 \
        return mini::sim::atomic_exchange(address, value);                             \
    }                                                                                  \
    MINI_WORD type atomicCAS(type* address, type expected, type value) {               \
        mini::sim::note_atomic(address, sizeof(type));                                 \
        return mini::sim::atomic_compare_and_swap(address, expected, value);           \
    }
MINI_DEVICE_ATOMICS(int)
MINI_DEVICE_ATOMICS(unsigned)
MINI_DEVICE_ATOMICS(unsigned long long)
#undef MINI_DEVICE_ATOMICS
// clang-format on
MINI_WORD float atomicExch(float* address, float value) {
    mini::sim::note_atomic(address, sizeof(*address));
    return mini::sim::atomic_exchange(address, value);
}

inline float __expf(float x) { return std::exp(x); }
inline float __logf(float x) { return std::log(x); }
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __int_as_float(int x) { return std::bit_cast<float>(x); }
inline int __float_as_int(float x) { return std::bit_cast<int>(x); }
inline unsigned __umulhi(unsigned a, unsigned b) {
    return static_cast<unsigned>((static_cast<uint64_t>(a) * b) >> 32);
}
inline int __popc(unsigned x) { return std::popcount(x); }
template <typename T>
MINI_WORD T __ldg(const T* address) {
    return *address;
}

#undef MINI_WORD
