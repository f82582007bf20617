// CUDA C++'s words for device code, for a C++ compiler: keywords, coordinates, barriers,
// shuffles, votes, atomics, vector types and intrinsics.

#pragma once

#include <bit>
#include <cmath>
#include <cstring>

#include "libmini/kernels/cuda/sim/api.hpp"
#include "libmini/kernels/cuda/sim/block.hpp"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __restrict__ __restrict
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
#define __constant__
// A block runs on one thread of the host, so that what is shared belongs to that thread.
#define __shared__ static thread_local

#define threadIdx (mini::sim::running().thread_index)
#define blockIdx (mini::sim::running().block_index)
#define blockDim (mini::sim::running().block_extent)
#define gridDim (mini::sim::running().grid_extent)

constexpr int warpSize = 32;

struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(16) int4 {
    int x, y, z, w;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
    return {x, y, z, w};
}

inline void __syncthreads() { mini::sim::block_barrier(); }
inline void __syncwarp(unsigned mask = 0xffffffffu) { mini::sim::warp_barrier(mask); }
inline void __threadfence() {}
inline void __threadfence_block() {}

// Any value of up to 8 bytes goes through a warp's exchange.
template <typename T>
T __shfl_sync(unsigned mask, T value, int lane, int width = warpSize) {
    const int self = mini::sim::lane();
    return mini::sim::exchange(mask, value, (self & ~(width - 1)) | (lane & (width - 1)));
}
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = warpSize) {
    const int self = mini::sim::lane();
    const int from = self ^ lanes;
    const bool inside = from < (self & ~(width - 1)) + width;
    return mini::sim::exchange(mask, value, inside ? from : self);
}
template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned lanes, int width = warpSize) {
    const int self = mini::sim::lane();
    const int from = self + static_cast<int>(lanes);
    const bool inside = from < (self & ~(width - 1)) + width;
    return mini::sim::exchange(mask, value, inside ? from : self);
}
template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned lanes, int width = warpSize) {
    const int self = mini::sim::lane();
    const int from = self - static_cast<int>(lanes);
    const bool inside = from >= (self & ~(width - 1));
    return mini::sim::exchange(mask, value, inside ? from : self);
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
    return mini::sim::ballot(mask, predicate != 0);
}
inline int __any_sync(unsigned mask, int predicate) {
    return __ballot_sync(mask, predicate) != 0;
}
inline int __all_sync(unsigned mask, int predicate) {
    return __ballot_sync(mask, predicate) == mask;
}

// Blocks run in parallel, so atomics are the host's own.
template <typename T>
T atomicAdd(T* address, T value) {
    return mini::sim::atomic_add(address, value);
}
inline int atomicMax(int* address, int value) {
    return mini::sim::atomic_max(address, value);
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
T __ldg(const T* address) {
    return *address;
}
