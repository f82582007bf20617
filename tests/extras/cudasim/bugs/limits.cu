// Launches that exceed a limit of the kernel or of the device. CUDA refuses them.

#include "libmini/kernels/cuda/launch.hpp"
#include "tests/extras/cudasim/bugs/bugs.hpp"

namespace mini::bugs {
namespace {

using mini::cuda::dynamic_shared;
using mini::cuda::launch;

constexpr unsigned kManyFloats = 12 * 1024;  // 48 KiB

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

}  // namespace

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

}  // namespace mini::bugs
