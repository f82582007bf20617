// Launches that exceed a limit of the kernel or of the device. CUDA refuses them.

#include "libmini/kernels/cuda/launch.hpp"
#include "tests/extras/cudasim/bugs/bugs.hpp"

namespace mini::bugs {
namespace {

using mini::cuda::dynamic_shared;
using mini::cuda::launch;

constexpr int kThreads = 64;
constexpr unsigned kManyFloats = 12 * 1024;  // 48 KiB

__global__ void __launch_bounds__(kThreads, 2) bounded(float* x) { x[threadIdx.x] *= 2; }
// Without bounds, and behind a kernel with bounds.
__global__ void unbounded(float* x) { x[threadIdx.x] *= 2; }

template <unsigned kFloats>
__global__ void large_arrays(float* out, unsigned i) {
    __shared__ float all[kFloats - 1];
    __shared__ float one;
    float* const each = i > 3 ? &one : all;
    all[i] = 1;
    *each = 1;
    *out = all[i] + *each;
}

__global__ void static_and_dynamic(float* out) {
    __shared__ float all[1024];
    all[threadIdx.x] = 1;
    dynamic_shared<float>()[threadIdx.x] = 1;
    out[threadIdx.x] = all[threadIdx.x] + dynamic_shared<float>()[threadIdx.x];
}

template <size_t kBytes>
struct Table {
    unsigned char bytes[kBytes];
};
template <size_t kBytes>
__global__ void table_lookup(float* out, Table<kBytes> table) {
    *out = table.bytes[kBytes - 1];
}

}  // namespace

void more_threads_than_bounds(bool wrong) {
    const Floats x(1024);
    launch(bounded, {.grid = 1, .block = kThreads + (wrong ? 1u : 0u)}, nullptr, x.get());
    launch(unbounded, {.grid = 1, .block = 1024}, nullptr, x.get());
    cudaDeviceSynchronize();
}
void large_static(bool wrong) {
    const Floats out(1);
    launch(wrong ? large_arrays<kManyFloats + 1> : large_arrays<kManyFloats>,
           {.grid = 1, .block = 1}, nullptr, out.get(), 7u);
    cudaDeviceSynchronize();
}
void large_dynamic(bool wrong) {
    const Floats out(32);
    const mini::cuda::Extents extents = {
        .grid = 1, .block = 32, .shared_bytes = 45 * 1024};
    if (!wrong)
        cudaFuncSetAttribute(static_and_dynamic,
                             cudaFuncAttributeMaxDynamicSharedMemorySize, 45 * 1024);
    launch(static_and_dynamic, extents, nullptr, out.get());
    cudaDeviceSynchronize();
}
void large_parameters(bool wrong) {
    const Floats out(1);
    if (wrong)
        launch(table_lookup<32760>, {.grid = 1, .block = 1}, nullptr, out.get(),
               Table<32760>{});
    else
        launch(table_lookup<32756>, {.grid = 1, .block = 1}, nullptr, out.get(),
               Table<32756>{});
    cudaDeviceSynchronize();
}

}  // namespace mini::bugs
