// Out-of-bounds indices, pointers to memory that the code may not access, and reads of
// uninitialised memory.

#include <memory>
#include <vector>

#include "libmini/kernels/cuda/launch.hpp"
#include "tests/extras/cudasim/bugs/bugs.hpp"

namespace mini::bugs {
namespace {

using mini::cuda::blocks;
using mini::cuda::launch;

constexpr int kThreads = 8;

__global__ void twice(float* x, int n, bool wrong) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (wrong ? i <= n : i < n) x[i] *= 2;  // BUG guard_off_by_one
}

// One thread per row of a (rows, cols) matrix.
__global__ void row_sums(float* out, const float* x, int rows, int cols, int stride) {
    const int row = static_cast<int>(threadIdx.x);
    if (row >= rows) return;
    float total = 0;
    for (int c = 0; c < cols; ++c) total += x[row * stride + c];  // BUG wrong_stride
    out[row] = total;
}

__global__ void left(float* out, const float* x, int n, int first) {
    const int i = static_cast<int>(threadIdx.x);
    if (i >= first && i < n) out[i] = x[i] - x[i - 1];  // BUG negative_halo
}

__global__ void add_freed(float* out, const float* x) {
    out[threadIdx.x] += x[threadIdx.x];  // BUG use_after_free
}
__global__ void add_host(float* out, const float* x) {
    out[threadIdx.x] += x[threadIdx.x];  // BUG host_pointer
}
__global__ void add_null(float* out, const float* x) {
    out[threadIdx.x] += x[threadIdx.x];  // BUG null_pointer
}
__global__ void add_remote(float* out, const float* x) {
    out[threadIdx.x] += x[threadIdx.x];  // BUG wrong_device
}

__global__ void load_four(float* out, const float* x) {
    const auto* const fours = reinterpret_cast<const float4*>(x);
    const float4 four = fours[threadIdx.x];  // BUG misaligned_vector
    out[threadIdx.x] = four.x + four.y + four.z + four.w;
}

__global__ void accumulate(float* total, const float* x) {
    atomicAdd(total, x[threadIdx.x]);  // BUG unset_output
}

}  // namespace

void guard_off_by_one(bool wrong) {
    const int n = 100;
    const Floats x(n);
    launch(twice, {.grid = blocks(n, 32), .block = 32}, nullptr, x.get(), n, wrong);
}
void wrong_stride(bool wrong) {
    const Floats x(7 * 3), out(7);
    launch(row_sums, {.grid = 1, .block = 32}, nullptr, out.get(), x.get(), 7, 3,
           wrong ? 7 : 3);
}
void negative_halo(bool wrong) {
    const Floats x(10), out(10);
    launch(left, {.grid = 1, .block = 32}, nullptr, out.get(), x.get(), 10,
           wrong ? 0 : 1);
}

void use_after_free(bool wrong) {
    const Floats out(kThreads), kept(kThreads);
    const float* x = kept.get();
    if (wrong) x = std::make_unique<Floats>(kThreads)->get();
    launch(add_freed, {.grid = 1, .block = kThreads}, nullptr, out.get(), x);
}
void host_pointer(bool wrong) {
    const Floats out(kThreads), there(kThreads);
    const std::vector<float> here(kThreads, 1.0f);
    launch(add_host, {.grid = 1, .block = kThreads}, nullptr, out.get(),
           wrong ? here.data() : there.get());
    cudaDeviceSynchronize();
}
void null_pointer(bool wrong) {
    const Floats out(kThreads), there(kThreads);
    launch(add_null, {.grid = 1, .block = kThreads}, nullptr, out.get(),
           wrong ? nullptr : there.get());
}
void wrong_device(bool wrong) {
    const Floats out(kThreads);
    cudaSetDevice(wrong ? 1 : 0);
    const Floats x(kThreads);
    cudaSetDevice(0);
    launch(add_remote, {.grid = 1, .block = kThreads}, nullptr, out.get(), x.get());
    cudaDeviceSynchronize();
}
void misaligned_vector(bool wrong) {
    const Floats x(4 * kThreads + 4), out(kThreads);
    launch(load_four, {.grid = 1, .block = kThreads}, nullptr, out.get(),
           x.get() + (wrong ? 1 : 4));
}
void unset_output(bool wrong) {
    const Floats x(kThreads), total(1, false);
    if (!wrong) cudaMemset(total.get(), 0, total.bytes());
    launch(accumulate, {.grid = 1, .block = kThreads}, nullptr, total.get(), x.get());
}
void device_pointer_on_host(bool wrong) {
    const Floats x(kThreads);
    float first = 0;
    if (!wrong)
        cudaMemcpy(&first, x.get(), sizeof(first), cudaMemcpyDeviceToHost);
    else
        first = *static_cast<volatile float*>(x.get());  // BUG device_pointer_on_host
    if (first != 1.0f) cudaDeviceSynchronize();
}

}  // namespace mini::bugs
