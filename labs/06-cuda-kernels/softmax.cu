#include <cfloat>
#include <cmath>
#include <cstdint>

#include "labs/06-cuda-kernels/kernels.hpp"

// [lab06 file]
namespace {

constexpr int kWarpSize = 32;
constexpr int kWarps = 4;  // of a block, a row each
constexpr unsigned kAllLanes = 0xffffffffu;

// Returns the sum of the values of the warp's 32 lanes, in every lane. All lanes call it.
__device__ float warp_sum(float value) {
    for (int step = kWarpSize / 2; step > 0; step /= 2)
        value += __shfl_xor_sync(kAllLanes, value, step);
    return value;
}

// Returns the maximum of the values of the warp's 32 lanes, in every lane.
__device__ float warp_max(float value) {
    for (int step = kWarpSize / 2; step > 0; step /= 2)
        value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, step));
    return value;
}

__global__ void log_softmax_kernel(float* y,        // (rows, cols)
                                   const float* x,  // (rows, cols)
                                   int64_t rows, int64_t cols) {
    const int64_t row = int64_t{blockIdx.x} * kWarps + threadIdx.y;
    const int lane = static_cast<int>(threadIdx.x);
    if (row >= rows) return;  // the whole warp returns
    x += row * cols;
    y += row * cols;
    // [lab06.6] Find the maximum, sum the exponentials, and write the row.
    float greatest = -INFINITY;
    for (int64_t j = lane; j < cols; j += kWarpSize) greatest = fmaxf(greatest, x[j]);
    greatest = warp_max(greatest);  // keeps expf from overflowing

    float total = 0.0f;
    for (int64_t j = lane; j < cols; j += kWarpSize) total += expf(x[j] - greatest);
    const float log_total = logf(warp_sum(total));

    for (int64_t j = lane; j < cols; j += kWarpSize) y[j] = x[j] - greatest - log_total;
    // [lab06.6]
}

// The elements of a part of a row: their maximum, and the sum of exp(x - greatest).
struct Running {
    float greatest, total;
};

// Returns the maximum and the sum of two parts together.
__device__ Running merge(Running a, Running b) {
    // [lab06.6] Scale both sums to the greater maximum.
    const float greatest = fmaxf(a.greatest, b.greatest);
    const float of_a = a.total * expf(a.greatest - greatest);
    const float of_b = b.total * expf(b.greatest - greatest);
    return {greatest, of_a + of_b};
    // [lab06.6]
}

__global__ void log_softmax_online_kernel(float* y,        // (rows, cols)
                                          const float* x,  // (rows, cols)
                                          int64_t rows, int64_t cols) {
    const int64_t row = int64_t{blockIdx.x} * kWarps + threadIdx.y;
    const int lane = static_cast<int>(threadIdx.x);
    if (row >= rows) return;  // the whole warp returns
    x += row * cols;
    y += row * cols;
    // A part without elements. Its maximum is finite, because -inf - -inf is NaN.
    Running all{-FLT_MAX, 0.0f};
    // [lab06.6] Merge a lane's elements, then the lanes, and write the row.
    for (int64_t j = lane; j < cols; j += kWarpSize) all = merge(all, {x[j], 1.0f});
    for (int step = kWarpSize / 2; step > 0; step /= 2)
        all = merge(all, {__shfl_xor_sync(kAllLanes, all.greatest, step),
                          __shfl_xor_sync(kAllLanes, all.total, step)});
    const float log_total = logf(all.total);
    for (int64_t j = lane; j < cols; j += kWarpSize)
        y[j] = x[j] - all.greatest - log_total;
    // [lab06.6]
}

}  // namespace

void log_softmax(float* y, const float* x, int64_t rows, int64_t cols) {
    const auto grid = static_cast<unsigned>((rows + kWarps - 1) / kWarps);
    log_softmax_kernel<<<grid, dim3(kWarpSize, kWarps)>>>(y, x, rows, cols);
}

void log_softmax_online(float* y, const float* x, int64_t rows, int64_t cols) {
    const auto grid = static_cast<unsigned>((rows + kWarps - 1) / kWarps);
    log_softmax_online_kernel<<<grid, dim3(kWarpSize, kWarps)>>>(y, x, rows, cols);
}
// [lab06 file]
