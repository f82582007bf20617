// Accesses at addresses that are not a multiple of their size: a GPU ends the kernel with
// cudaErrorMisalignedAddress.

#include <cstdint>

#include <cuda_pipeline.h>

#include "libmini/kernels/cuda/launch.hpp"
#include "tests/extras/cudasim/bugs/bugs.hpp"

namespace mini::bugs {
namespace {

using mini::cuda::launch;

constexpr int kThreads = 32;

// Fills an array in shared memory and reads T from it, at `first` bytes after a multiple
// of the size of T.
template <typename T>
__global__ void read_at(float* out, unsigned first) {
    __shared__ __align__(16) float all[8 * kThreads];
    const unsigned t = threadIdx.x;
    for (unsigned i = t; i < 8 * kThreads; i += kThreads) all[i] = 1.0f;
    __syncthreads();
    const auto* const bytes = reinterpret_cast<const unsigned char*>(all) + first;
    const T item = reinterpret_cast<const T*>(bytes)[t];  // BUG misaligned_shared
    out[t] = *reinterpret_cast<const unsigned char*>(&item);
}

// The same for a pair of floats, one float, and an integer of two bytes.
__global__ void read_pair(float* out, unsigned first) {
    __shared__ __align__(16) float all[4 * kThreads];
    const unsigned t = threadIdx.x;
    for (unsigned i = t; i < 4 * kThreads; i += kThreads) all[i] = 1.0f;
    __syncthreads();
    const auto* const pairs = reinterpret_cast<const float2*>(all + first);
    const float2 pair = pairs[t];  // BUG misaligned_pair
    out[t] = pair.x + pair.y;
}
__global__ void read_float(float* out, const unsigned char* x) {
    const auto* const floats = reinterpret_cast<const float*>(x);
    out[threadIdx.x] = floats[threadIdx.x];  // BUG misaligned_float
}
__global__ void read_half(float* out, const unsigned char* x) {
    const auto* const halves = reinterpret_cast<const uint16_t*>(x);
    out[threadIdx.x] = halves[threadIdx.x];  // BUG misaligned_half
}

// Copies 16 bytes per thread, which both addresses must be aligned to.
__global__ void copy_four(float* out, const float* x, unsigned first) {
    __shared__ __align__(16) float all[4 * kThreads + 4];
    const unsigned t = threadIdx.x;
    __pipeline_memcpy_async(  // BUG misaligned_copy_target
        &all[first + 4 * t], &x[4 * t], sizeof(float4));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[t] = all[first + 4 * t];
}
__global__ void copy_pair(float* out, const float* x) {
    __shared__ __align__(16) float all[2 * kThreads];
    const unsigned t = threadIdx.x;
    __pipeline_memcpy_async(  // BUG misaligned_copy_source
        &all[2 * t], &x[2 * t], sizeof(float2));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[t] = all[2 * t];
}

}  // namespace

void misaligned_shared(bool wrong) {
    const Floats out(kThreads);
    launch(read_at<float4>, {.grid = 1, .block = kThreads}, nullptr, out.get(),
           wrong ? 8u : 16u);
}
void misaligned_pair(bool wrong) {
    const Floats out(kThreads);
    launch(read_pair, {.grid = 1, .block = kThreads}, nullptr, out.get(),
           wrong ? 1u : 2u);
}
void misaligned_float(bool wrong) {
    const Floats x(kThreads + 1), out(kThreads);
    const auto* const bytes = reinterpret_cast<const unsigned char*>(x.get());
    launch(read_float, {.grid = 1, .block = kThreads}, nullptr, out.get(),
           bytes + (wrong ? 2 : 4));
}
void misaligned_half(bool wrong) {
    const Floats x(kThreads + 1), out(kThreads);
    const auto* const bytes = reinterpret_cast<const unsigned char*>(x.get());
    launch(read_half, {.grid = 1, .block = kThreads}, nullptr, out.get(),
           bytes + (wrong ? 1 : 2));
}
void misaligned_copy_target(bool wrong) {
    const Floats x(4 * kThreads), out(kThreads);
    launch(copy_four, {.grid = 1, .block = kThreads}, nullptr, out.get(), x.get(),
           wrong ? 2u : 4u);
}
void misaligned_copy_source(bool wrong) {
    const Floats x(2 * kThreads + 2), out(kThreads);
    launch(copy_pair, {.grid = 1, .block = kThreads}, nullptr, out.get(),
           x.get() + (wrong ? 1 : 2));
}
}  // namespace mini::bugs
