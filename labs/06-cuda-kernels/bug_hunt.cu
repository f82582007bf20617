// Standardizes the rows of a matrix: each row gets mean 0 and variance 1 (a layer norm
// without weights). A block of 96 threads, three warps, processes a row. There are two bugs.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

constexpr int kThreads = 96;
constexpr int kRows = 3;

// Returns the sum over the block, in every thread.
__device__ float block_sum(float value) {
    __shared__ float part[kThreads];
    const int t = static_cast<int>(threadIdx.x);
    __syncthreads();  // part may still be read by the call before
    part[t] = value;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    return part[0];
}

__global__ void standardize_kernel(float* y,        // (rows, cols)
                                   const float* x,  // (rows, cols)
                                   int cols) {
    x += blockIdx.x * cols;
    y += blockIdx.x * cols;
    const int steps = cols / kThreads;
    const int t = static_cast<int>(threadIdx.x);

    float sum = 0.0f;
    for (int k = 0; k < steps; ++k)
        if (k * kThreads + t < cols) sum += x[k * kThreads + t];
    const float mean = block_sum(sum) / static_cast<float>(cols);

    float squares = 0.0f;
    for (int k = 0; k < steps; ++k)
        if (k * kThreads + t < cols) {
            const float difference = x[k * kThreads + t] - mean;
            squares += difference * difference;
        }
    const float variance = block_sum(squares) / static_cast<float>(cols);

    for (int k = 0; k < steps; ++k)
        if (k * kThreads + t < cols)
            y[k * kThreads + t] = (x[k * kThreads + t] - mean) / sqrtf(variance);
}

// Standardizes rows of 0, 1, 2, ... on the device, and returns whether each row has mean
// 0 and variance 1.
bool rows_are_standard(int cols) {
    std::vector<float> rows(static_cast<size_t>(kRows * cols));
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<float>(i);
    const size_t bytes = rows.size() * sizeof(float);
    float *x, *y;
    cudaMalloc(&x, bytes);
    cudaMalloc(&y, bytes);
    cudaMemcpy(x, rows.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemset(y, 0, bytes);
    standardize_kernel<<<kRows, kThreads>>>(y, x, cols);
    cudaMemcpy(rows.data(), y, bytes, cudaMemcpyDeviceToHost);
    cudaFree(x);
    cudaFree(y);

    bool right = true;
    for (int row = 0; row < kRows; ++row) {
        double sum = 0, squares = 0;
        for (int j = 0; j < cols; ++j) {
            const double value = rows[static_cast<size_t>(row * cols + j)];
            sum += value;
            squares += value * value;
        }
        const double mean = sum / cols, variance = squares / cols - mean * mean;
        right = right && std::abs(mean) < 1e-3 && std::abs(variance - 1) < 1e-3;
        std::printf("%d columns, row %d: mean %.3f, variance %.3f\n", cols, row, mean,
                    variance);
    }
    return right;
}

}  // namespace

int main() {
    bool right = true;
    for (const int cols : {192, 300}) right = rows_are_standard(cols) && right;
    std::puts(right ? "all rows are standardized" : "some rows are not standardized");
    return right ? 0 : 1;
}
