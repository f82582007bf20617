// Runs the sums of trees.cu and sum.cu.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

#include "labs/06-cuda-kernels/kernels.hpp"

// Sums random numbers, 100,000 or as many as the argument says, by each variant, and
// prints the errors: how far the sums are from the sum in double precision. Returns 1 if
// one is further than rounding explains.
int main(int argc, char** argv) {
    const int64_t n = argc > 1 ? atoll(argv[1]) : 100'000;
    std::mt19937 generator(6);
    std::vector<float> values(n);
    for (float& value : values) value = static_cast<float>(generator()) / 4294967296.0f;
    const double exact = std::accumulate(values.begin(), values.end(), 0.0);
    const float one_by_one = std::accumulate(values.begin(), values.end(), 0.0f);
    printf("the sum of %d numbers: %.6f\n", static_cast<int>(n), exact);
    printf("%-12s %10.6f\n", "one by one", one_by_one - exact);

    float *x, *out;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&out, sizeof(float));
    cudaMemcpy(x, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    bool right = true;
    const auto report = [&](const char* name, auto sum) {
        float result = 0;
        sum(out, x, n);
        cudaMemcpy(&result, out, sizeof(float), cudaMemcpyDeviceToHost);
        printf("%-12s %10.6f\n", name, result - exact);
        right = right && fabs(result - exact) <= 1e-6 * exact;
    };
    report("divergent", sum_divergent);
    report("interleaved", sum_interleaved);
    report("sequential", sum_sequential);
    report("first_add", sum_first_add);
    report("shuffle", sum_shuffle);
    report("atomic", sum_atomic);
    cudaFree(x);
    cudaFree(out);
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) printf("%s\n", cudaGetErrorString(error));
    return right && error == cudaSuccess ? 0 : 1;
}
