// Orthonormal columns by the Gram-Schmidt process, for PowerSGD: see
// parallel/power_sgd.hpp.
//
//     values (n, r)     row 0     thread 0
//                       ...
//                       row 255   thread 255
//                       row 256   thread 0
//
// A matrix is tall and thin, and each column depends on the columns before it, so one
// block processes the whole matrix. A thread accesses only its own rows; only dot
// products are shared. Traffic: about r² passes over the matrix, which stays in the
// cache.

#include "libmini/kernels/cuda/kernels.hpp"
#include "libmini/kernels/cuda/team.hpp"

namespace mini::kernels::cuda {
namespace {

using mini::cuda::launch;

constexpr double kRounding = 1e-5;  // length of a rounding error, relative to the column

struct Matrix {
    float* values;
    int64_t n, r;

    __device__ float& at(int64_t i, int64_t column) const {
        return values[i * r + column];
    }

    __device__ double dot(int64_t a, int64_t b) const {
        double sum = 0.0;
        for (int64_t i = threadIdx.x; i < n; i += kThreads)
            sum += static_cast<double>(at(i, a)) * static_cast<double>(at(i, b));
        return team_reduce<kThreads>(sum, Sum());
    }
    __device__ void subtract_projections(int64_t column) const {
        for (int64_t before = 0; before < column; ++before) {
            const auto part = static_cast<float>(dot(column, before));
            for (int64_t i = threadIdx.x; i < n; i += kThreads)
                at(i, column) -= part * at(i, before);
        }
    }
    __device__ void scale(int64_t column, double factor) const {
        for (int64_t i = threadIdx.x; i < n; i += kThreads)
            at(i, column) *= static_cast<float>(factor);
    }
};

// Launch with one block.
__global__ void orthogonalize_kernel(Matrix matrix, double epsilon) {
    for (int64_t column = 0; column < matrix.r; ++column) {
        const double length = sqrt(matrix.dot(column, column));
        matrix.subtract_projections(column);
        matrix.subtract_projections(column);  // remove what rounding errors have left
        const double rest = sqrt(matrix.dot(column, column));
        const bool is_new = rest > kRounding * length;
        matrix.scale(column, is_new ? 1.0 / (rest + epsilon) : 0.0);
    }
}

}  // namespace

void orthogonalize(float* values, int64_t n, int64_t r, double epsilon,
                   cudaStream_t stream) {
    if (n == 0 || r == 0) return;
    launch(orthogonalize_kernel, {.grid = 1, .block = kThreads}, stream,
           Matrix{values, n, r}, epsilon);
}

}  // namespace mini::kernels::cuda
