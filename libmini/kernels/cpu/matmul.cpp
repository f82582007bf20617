// Matrix products by Eigen. The rows of the result are divided among the threads.

#include <Eigen/Core>
#include <algorithm>
#include <cstdint>

#include "libmini/core/error.hpp"  // MINI_TODO of the starter
#include "libmini/core/parallel.hpp"
#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cpu {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MatrixMap = Eigen::Map<Matrix>;  // a matrix in the caller's memory
using ConstMatrixMap = Eigen::Map<const Matrix>;

constexpr int64_t kProductGrain = 1 << 22;  // multiplications per chunk, about 0.1 ms
constexpr int64_t kRowGrain = 128;          // minimum of rows per chunk

template <typename A, typename B>
void multiply(MatrixMap out, const A& a, const B& b, bool accumulate) {
    const int64_t work_per_row = std::max<int64_t>(1, b.rows() * b.cols());
    const int64_t grain = std::max(kRowGrain, kProductGrain / work_per_row);
    // [lab02.5] Compute each chunk of rows of out: as many rows of a, times the whole b.
    parallel_for(out.rows(), grain, [&](int64_t begin, int64_t end) {
        auto rows = out.middleRows(begin, end - begin);
        if (accumulate)
            rows.noalias() += a.middleRows(begin, end - begin) * b;
        else
            rows.noalias() = a.middleRows(begin, end - begin) * b;
    });
    // [lab02.5]
}

}  // namespace

void matmul(float* out, const float* a, const float* b, int64_t M, int64_t N, int64_t K,
            MatmulOptions options) {
    const auto [transpose_a, transpose_b, accumulate] = options;
    // [lab02.5] Map the arrays as they are stored, and multiply them as the options say.
    const MatrixMap result(out, M, N);
    const ConstMatrixMap left(a, transpose_a ? K : M, transpose_a ? M : K);
    const ConstMatrixMap right(b, transpose_b ? N : K, transpose_b ? K : N);

    if (transpose_a && transpose_b)
        multiply(result, left.transpose(), right.transpose(), accumulate);
    else if (transpose_a)
        multiply(result, left.transpose(), right, accumulate);
    else if (transpose_b)
        multiply(result, left, right.transpose(), accumulate);
    else
        multiply(result, left, right, accumulate);
    // [lab02.5]
}

}  // namespace mini::kernels::cpu
