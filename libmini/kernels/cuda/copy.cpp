#include "libmini/kernels/cuda/copy.hpp"

#include <cuda_runtime.h>

#include "libmini/kernels/cuda/pinned.hpp"

namespace mini::cuda {

void copy(void* to, const void* from, size_t bytes, cudaStream_t stream) {
    if (bytes == 0) return;
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
    pinned_copied(to, from, stream);
    pinned_copied(from, to, stream);
}

}  // namespace mini::cuda
