#include "libmini/kernels/cuda/matmul_ladder.hpp"

namespace mini::kernels::cuda {

bool has_cublas() { return false; }

void matmul_cublas(const Product&, bool, cudaStream_t) {
    throw UsageError(
        "matmul: this build has no rung \"cublas\"; configure with MINI_CUDA=ON");
}

}  // namespace mini::kernels::cuda
