// Runs the products of matmul.cu.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "labs/06-cuda-kernels/kernels.hpp"

// Multiplies square matrices, 72 x 72 or as large as the first argument says, by each
// kernel; returns 1 if a row or the diagonal of a product is wrong. With a second argument
// repeats each product so often, and prints the speed.
int main(int argc, char** argv) {
    const int64_t n = argc > 1 ? atoll(argv[1]) : 72;
    const int repeats = argc > 2 ? atoi(argv[2]) : 0;
    const size_t bytes = n * n * sizeof(float);
    std::vector<float> a(n * n), b(n * n), results(n * n);
    for (int64_t i = 0; i < n * n; ++i) {  // their products are exact
        a[i] = static_cast<float>(i % 9 - 4);
        b[i] = static_cast<float>(i % 7 - 3);
    }
    float *on_a, *on_b, *out;
    cudaMalloc(&on_a, bytes);
    cudaMalloc(&on_b, bytes);
    cudaMalloc(&out, bytes);
    cudaMemcpy(on_a, a.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(on_b, b.data(), bytes, cudaMemcpyHostToDevice);
    const Product product{out, {on_a, n, n, n, 1}, {on_b, n, n, n, 1}, false};
    cudaEvent_t start, end;
    cudaEventCreate(&start);
    cudaEventCreate(&end);

    int64_t all_wrong = 0;
    const auto is_wrong = [&](int64_t i, int64_t j) {
        float sum = 0;
        for (int64_t k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
        return results[i * n + j] != sum;
    };
    const auto report = [&](const char* name, auto multiply) {
        multiply(product);
        cudaMemcpy(results.data(), out, bytes, cudaMemcpyDeviceToHost);
        cudaMemset(out, 0xff, bytes);
        int64_t wrong = 0;
        for (int64_t i = 0; i < n; ++i) wrong += is_wrong(i, i) + is_wrong(n - 1, i);
        all_wrong += wrong;
        printf("%-10s %s; %s", name, wrong == 0 ? "right" : "WRONG",
               cudaGetErrorString(cudaGetLastError()));
        if (repeats > 0) {
            float milliseconds = 0;
            cudaEventRecord(start);
            for (int i = 0; i < repeats; ++i) multiply(product);
            cudaEventRecord(end);
            cudaEventSynchronize(end);
            cudaEventElapsedTime(&milliseconds, start, end);
            const double products = static_cast<double>(n) * n * n * repeats;
            printf("; %.1f GFLOP/s", 2 * products / milliseconds / 1e6);
        }
        printf("\n");
    };
    report("naive", matmul_naive);
    report("coalesced", matmul_coalesced);
    report("tiled", matmul_tiled);
    report("registers", matmul_registers);
    cudaFree(on_a);
    cudaFree(on_b);
    cudaFree(out);
    return all_wrong == 0 ? 0 : 1;
}
