// Row-wise log-softmax in three passes, and in two. A warp processes a row; its lanes
// stride over the columns:
//
//     column   0  1  2 .. 31 | 32 33 34 .. 63 | 64 ..
//     lane     0  1  2 .. 31 |  0  1  2 .. 31 |  0 ..
//
// The online kernel keeps a running maximum and sum, after M. Milakov, N. Gimelshein,
// "Online normalizer calculation for softmax" (2018). If a greater element comes, the old
// sum is scaled to it:
//
//     x             1             3                         2
//     greatest      1             3                         3
//     total         1             e^(1-3) + 1               e^(1-3) + 1 + e^(2-3)
//
// Two parts of a row are merged in the same way, so the lanes of a warp keep a part each,
// and a tree of shuffles merges them.

#include <algorithm>
#include <cassert>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#ifndef MINI_TODO
#define MINI_TODO(task, title) assert(!"[" task "] not started: " title)
#endif

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

// Each computes y[i][j] = x[i][j] - log(sum over k of exp(x[i][k])); rows and cols are not 0.
void log_softmax(float* y, const float* x, int64_t rows, int64_t cols) {
    const auto grid = static_cast<unsigned>((rows + kWarps - 1) / kWarps);
    log_softmax_kernel<<<grid, dim3(kWarpSize, kWarps)>>>(y, x, rows, cols);
}

void log_softmax_online(float* y, const float* x, int64_t rows, int64_t cols) {
    const auto grid = static_cast<unsigned>((rows + kWarps - 1) / kWarps);
    log_softmax_online_kernel<<<grid, dim3(kWarpSize, kWarps)>>>(y, x, rows, cols);
}

// Computes 16 rows of 100 by each kernel, and returns 1 if a result is wrong.
int main() {
    const int64_t rows = 16, cols = 100;
    const size_t bytes = rows * cols * sizeof(float);
    std::mt19937 generator(6);
    std::normal_distribution<float> normal;
    std::vector<float> numbers(rows * cols), results(rows * cols);
    for (float& number : numbers) number = normal(generator);
    float *x, *y;
    cudaMalloc(&x, bytes);
    cudaMalloc(&y, bytes);
    cudaMemcpy(x, numbers.data(), bytes, cudaMemcpyHostToDevice);

    double worst = 0;
    const auto report = [&](const char* name, auto kernel) {
        cudaMemset(y, 0, bytes);
        kernel(y, x, rows, cols);
        cudaMemcpy(results.data(), y, bytes, cudaMemcpyDeviceToHost);
        double error = 0;
        for (int64_t i = 0; i < rows; ++i) {
            double total = 0;
            for (int64_t j = 0; j < cols; ++j)
                total += exp(double{numbers[i * cols + j]});
            for (int64_t j = 0; j < cols; ++j)
                error = std::max(error, std::abs(results[i * cols + j] -
                                                 (numbers[i * cols + j] - log(total))));
        }
        printf("%-12s error at most %.7f; %s\n", name, error,
               cudaGetErrorString(cudaGetLastError()));
        worst = std::max(worst, error);
    };
    report("three passes", log_softmax);
    report("online", log_softmax_online);
    cudaFree(x);
    cudaFree(y);
    return worst < 1e-5 ? 0 : 1;
}
