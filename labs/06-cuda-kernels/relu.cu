// ReLU by three kernels that differ in one thing: which thread computes which element. A
// first kernel, and the smallest that shows coalescing.
//
//     kernel        thread t computes                        a warp reads at a time
//     runs          8 adjacent elements, from 8 t on         32 floats, 32 bytes apart
//     each          element t                                32 adjacent floats
//     grid_stride   elements t, t + T, t + 2 T, ...          32 adjacent floats
//                   where T is the number of threads
//
// out[i] = 0 if x[i] < 0, else x[i], so NaN stays NaN. n may be 0.

#include <cassert>
#include <cstdint>
#include <cstdio>
#include <vector>

#ifndef MINI_TODO
#define MINI_TODO(task, title) assert(!"[" task "] not started: " title)
#endif

namespace {

constexpr int kThreads = 256;  // of a block
constexpr int64_t kRun = 8;    // adjacent elements of a thread of relu_runs

__device__ float relu(float v) { return v < 0.0f ? 0.0f : v; }

__global__ void relu_runs_kernel(float* out,      // (n)
                                 const float* x,  // (n)
                                 int64_t n) {
    const int64_t thread = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t begin = thread * kRun;
    for (int64_t i = begin; i < begin + kRun && i < n; ++i) out[i] = relu(x[i]);
}

__global__ void relu_each_kernel(float* out,      // (n)
                                 const float* x,  // (n)
                                 int64_t n) {
    // [lab06.1] Compute one element per thread.
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) out[i] = relu(x[i]);
    // [lab06.1]
}

__global__ void relu_grid_stride_kernel(float* out,      // (n)
                                        const float* x,  // (n)
                                        int64_t n) {
    // [lab06.1] Advance by the number of threads of the grid.
    const int64_t thread = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t threads = int64_t{gridDim.x} * blockDim.x;
    for (int64_t i = thread; i < n; i += threads) out[i] = relu(x[i]);
    // [lab06.1]
}

}  // namespace

void relu_runs(float* out, const float* x, int64_t n, cudaStream_t stream) {
    const int64_t of_block = kRun * kThreads;
    const auto grid = static_cast<unsigned>((n + of_block - 1) / of_block);
    if (grid > 0) relu_runs_kernel<<<grid, kThreads, 0, stream>>>(out, x, n);
}

// Launches as many blocks of 256 threads as are needed, and no more; none if n is 0.
void relu_each(float* out, const float* x, int64_t n, cudaStream_t stream) {
    // [lab06.1] Launch enough blocks for n threads.
    const auto grid = static_cast<unsigned>((n + kThreads - 1) / kThreads);
    if (grid > 0) relu_each_kernel<<<grid, kThreads, 0, stream>>>(out, x, n);
    // [lab06.1]
}

// Launches `grid` blocks of 256 threads for any n.
void relu_grid_stride(float* out, const float* x, int64_t n, unsigned grid,
                      cudaStream_t stream) {
    relu_grid_stride_kernel<<<grid, kThreads, 0, stream>>>(out, x, n);
}

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
