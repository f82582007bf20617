// Runs the kernels of softmax.cu.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "labs/06-cuda-kernels/kernels.hpp"

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
