// Accesses at addresses that are not a multiple of their size: a GPU ends the kernel with
// cudaErrorMisalignedAddress.

#include <cstdint>

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
}  // namespace mini::bugs
