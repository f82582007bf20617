// Runs the kernels of relu.cu; the folder of your file is work/06-cuda-kernels.
//
//     mini cuda -I. --count labs/06-cuda-kernels/run_relu.cu labs/06-cuda-kernels/relu.cu

#include <cstdint>
#include <cstdio>
#include <vector>

#include "labs/06-cuda-kernels/kernels.hpp"

// Computes 4096 elements by each kernel, and returns 1 if one is wrong.
int main() {
    const int64_t n = 4096;
    const size_t bytes = n * sizeof(float);
    std::vector<float> numbers(n), results(n);
    for (int64_t i = 0; i < n; ++i) numbers[i] = static_cast<float>(i % 9 - 4);
    float *x, *out;
    cudaMalloc(&x, bytes);
    cudaMalloc(&out, bytes);
    cudaMemcpy(x, numbers.data(), bytes, cudaMemcpyHostToDevice);

    int64_t all_wrong = 0;
    const auto report = [&](const char* name) {
        cudaMemcpy(results.data(), out, bytes, cudaMemcpyDeviceToHost);
        cudaMemset(out, 0xff, bytes);
        int64_t wrong = 0;
        for (int64_t i = 0; i < n; ++i)
            wrong += results[i] != (numbers[i] < 0 ? 0 : numbers[i]);
        printf("%-12s %4d of %d elements are wrong; %s\n", name, static_cast<int>(wrong),
               static_cast<int>(n), cudaGetErrorString(cudaGetLastError()));
        all_wrong += wrong;
    };
    relu_runs(out, x, n, nullptr);
    report("runs");
    relu_each(out, x, n, nullptr);
    report("each");
    relu_grid_stride(out, x, n, 4, nullptr);
    report("grid_stride");
    cudaFree(x);
    cudaFree(out);
    return all_wrong == 0 ? 0 : 1;
}
