#include "libmini/kernels/cuda/matmul_ladder.hpp"

namespace mini::kernels::cuda {

bool has_cublas() { return false; }

void matmul_cublas(const Product&, bool, cudaStream_t) {
    throw NotImplemented("matmul: this build has no cuBLAS; configure with MINI_CUDA=ON");
}

}  // namespace mini::kernels::cuda
