// Cooperative groups, cuBLAS, wmma, cuRAND and CUB.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cublasLt.h>
#include <cublas_v2.h>
#include <curand_kernel.h>
#include <mma.h>
#include <cub/cub.cuh>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "check.h"

namespace cg = cooperative_groups;

// ---- cooperative groups ----

// Thread i writes what it learns to to[i], to[n + i], ...
__global__ void groups(int* to) {
    const cg::thread_block block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<8>(block);
    const int i = block.thread_rank(), n = block.size();
    __shared__ int s[64];
    s[i] = i;
    block.sync();
    to[i] = s[n - 1 - i];
    to[n + i] = cg::reduce(tile, i, cg::plus<int>());
    to[2 * n + i] = cg::reduce(tile, i * i % 7, cg::greater<int>());
    to[3 * n + i] = tile.shfl_down(i, 3);
    to[4 * n + i] = tile.ballot(i % 3 == 0);
    to[5 * n + i] = tile.meta_group_rank() * 10 + tile.meta_group_size();
    to[6 * n + i] = cg::inclusive_scan(tile, i);
    if (i % 2 == 1) {  // what remains of a warp
        const auto odd = cg::coalesced_group(0xaaaaaaaau);
        to[7 * n + i] = odd.shfl(i, 2) * 100 + odd.thread_rank() + odd.size();
    }
    to[8 * n + i] = static_cast<int>(cg::this_grid().thread_rank());
}

void check_groups() {
    constexpr int n = 64;
    int* to = on_device(std::vector<int>(9 * n));
    groups<<<1, n>>>(to);
    const std::vector<int> got = on_host(to, 9 * n);
    for (int i = 0; i < n; ++i) {
        const int first = i / 8 * 8;
        int sum = 0, most = 0, votes = 0, before = 0;
        for (int j = first; j < first + 8; ++j) {
            sum += j;
            most = std::max(most, j * j % 7);
            votes |= (j % 3 == 0) << (j - first);
            if (j <= i) before += j;
        }
        CHECK(got[i] == n - 1 - i);
        CHECK(got[n + i] == sum);
        CHECK(got[2 * n + i] == most);
        CHECK(got[3 * n + i] == (i % 8 < 5 ? i + 3 : i));
        CHECK(got[4 * n + i] == votes);
        CHECK(got[5 * n + i] == i / 8 * 10 + 8);
        CHECK(got[6 * n + i] == before);
        if (i % 2 == 1)
            CHECK(got[7 * n + i] == (i / 32 * 32 + 5) * 100 + i % 32 / 2 + 16);
        CHECK(got[8 * n + i] == i);
    }
}

__global__ void sums_of_blocks(int* parts, int* total) {
    __shared__ int mine;
    if (threadIdx.x == 0) parts[blockIdx.x] = mine = blockIdx.x + 1;
    cg::this_grid().sync();
    if (blockIdx.x + threadIdx.x == 0) *total = parts[0] + parts[1] + parts[2];
    cg::this_grid().sync();
    if (threadIdx.x == 0) parts[blockIdx.x] = *total * 10 + mine;
}

void check_grid() {
    int *parts = on_device(std::vector<int>(3)), *total = on_device(std::vector<int>(1));
    void* values[] = {&parts, &total};
    CHECK(cudaLaunchCooperativeKernel((void*)sums_of_blocks, 3, 64, values) == 0);
    CHECK(on_host(parts, 3) == std::vector<int>({61, 62, 63}));
}

// ---- cuBLAS ----

// The products of some batches, which have m x n elements of k terms.
template <typename T>
struct Products {
    cublasHandle_t blas;
    cublasOperation_t of_a, of_b;
    int m, n, k;
    const T* a;
    int lda, step_a;
    const T* b;
    int ldb, step_b;
    T* c;
    int ldc, step_c, batches;

    // Calls product(a, b, c) for each batch until one fails. Returns the last status.
    cublasStatus_t one_by_one(auto product) const {
        cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
        for (int i = 0; i < batches && status == CUBLAS_STATUS_SUCCESS; ++i)
            status = product(a + i * step_a, b + i * step_b, c + i * step_c);
        return status;
    }
};

// Batches of c = 2 op(a) op(b) + 0.5 c.
template <typename T, typename Product>
void check_products(bool turn_a, bool turn_b, Product product) {
    constexpr int m = 5, n = 3, k = 4, batches = 2;
    std::vector<T> a(m * k * batches), b(k * n * batches), c(m * n * batches);
    for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 7) - 2;
    for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 5) - 1;
    for (size_t i = 0; i < c.size(); ++i) c[i] = static_cast<float>(i % 4);
    T* to = on_device(c);
    cublasHandle_t blas;
    cublasCreate(&blas);
    const cublasStatus_t status = product(Products<T>{
        blas, turn_a ? CUBLAS_OP_T : CUBLAS_OP_N, turn_b ? CUBLAS_OP_T : CUBLAS_OP_N, m,
        n, k, on_device(a), turn_a ? k : m, m * k, on_device(b), turn_b ? n : k, k * n,
        to, m, m * n, batches});
    CHECK(status == CUBLAS_STATUS_SUCCESS);
    CHECK(cublasDestroy(blas) == CUBLAS_STATUS_SUCCESS);
    const std::vector<T> got = on_host(to, c.size());
    for (int i = 0; i < m * n * batches; ++i) {
        const int batch = i / (m * n), row = i % m, column = i / m % n;
        float sum = 0;
        for (int j = 0; j < k; ++j)
            sum += static_cast<float>(
                       a[batch * m * k + (turn_a ? row * k + j : j * m + row)]) *
                   static_cast<float>(
                       b[batch * k * n + (turn_b ? j * n + column : column * k + j)]);
        CHECK(static_cast<float>(got[i]) == 2 * sum + 0.5f * static_cast<float>(c[i]));
    }
}

void check_blas() {
    const float two = 2, half_ = 0.5f;
    const double two_d = 2, half_d = 0.5;
    for (int turn = 0; turn < 4; ++turn) {
        check_products<float>(turn & 1, turn & 2, [&](const auto& p) {
            return cublasSgemmStridedBatched(p.blas, p.of_a, p.of_b, p.m, p.n, p.k, &two,
                                             p.a, p.lda, p.step_a, p.b, p.ldb, p.step_b,
                                             &half_, p.c, p.ldc, p.step_c, p.batches);
        });
        check_products<double>(turn & 1, turn & 2, [&](const auto& p) {
            return p.one_by_one([&](auto a, auto b, auto c) {
                return cublasDgemm(p.blas, p.of_a, p.of_b, p.m, p.n, p.k, &two_d, a,
                                   p.lda, b, p.ldb, &half_d, c, p.ldc);
            });
        });
        check_products<__nv_bfloat16>(turn & 1, turn & 2, [&](const auto& p) {
            return cublasGemmStridedBatchedEx(
                p.blas, p.of_a, p.of_b, p.m, p.n, p.k, &two, p.a, CUDA_R_16BF, p.lda,
                p.step_a, p.b, CUDA_R_16BF, p.ldb, p.step_b, &half_, p.c, CUDA_R_16BF,
                p.ldc, p.step_c, p.batches, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
        });
    }
}

// A linear layer as in PyTorch: out = gelu(weight x + bias), where a row of weight is a
// column here.
void check_blas_lt() {
    constexpr int outputs = 4, inputs = 3, count = 5;
    std::vector<float> weight(outputs * inputs), x(inputs * count), bias(outputs);
    for (int i = 0; i < outputs * inputs; ++i) weight[i] = i % 5 - 2.0f;
    for (int i = 0; i < inputs * count; ++i) x[i] = i % 4 - 1.0f;
    for (int i = 0; i < outputs; ++i) bias[i] = i - 1.5f;
    cublasLtHandle_t blas;
    cublasLtMatmulDesc_t how;
    cublasLtMatrixLayout_t of_weight, of_x, of_out;
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t heuristic;
    CHECK(cublasLtCreate(&blas) == CUBLAS_STATUS_SUCCESS);
    cublasLtMatmulDescCreate(&how, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    cublasLtMatrixLayoutCreate(&of_weight, CUDA_R_32F, inputs, outputs, inputs);
    cublasLtMatrixLayoutCreate(&of_x, CUDA_R_32F, inputs, count, inputs);
    cublasLtMatrixLayoutCreate(&of_out, CUDA_R_32F, outputs, count, outputs);
    cublasLtMatmulPreferenceCreate(&preference);
    const cublasOperation_t turned = CUBLAS_OP_T;
    const cublasLtEpilogue_t then = CUBLASLT_EPILOGUE_GELU_BIAS;
    const float* const on_bias = on_device(bias);
    cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_TRANSA, &turned,
                                   sizeof turned);
    cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_EPILOGUE, &then,
                                   sizeof then);
    cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &on_bias,
                                   sizeof on_bias);
    int found = 0;
    cublasLtMatmulAlgoGetHeuristic(blas, how, of_weight, of_x, of_out, of_out, preference,
                                   1, &heuristic, &found);
    CHECK(found == 1);
    const float one = 1, zero = 0;
    float* out;
    cudaMalloc(&out, outputs * count * sizeof(float));
    CHECK(cublasLtMatmul(blas, how, &one, on_device(weight), of_weight, on_device(x),
                         of_x, &zero, out, of_out, out, of_out, &heuristic.algo, nullptr,
                         0, 0) == CUBLAS_STATUS_SUCCESS);
    const std::vector<float> got = on_host(out, outputs * count);
    for (int i = 0; i < outputs * count; ++i) {
        float sum = bias[i % outputs];
        for (int j = 0; j < inputs; ++j)
            sum += weight[i % outputs * inputs + j] * x[i / outputs * inputs + j];
        const float want =
            0.5f * sum * (1 + tanhf(0.7978845608f * (sum + 0.044715f * sum * sum * sum)));
        CHECK(fabsf(got[i] - want) < 1e-6f);
    }
    cublasLtMatmulPreferenceDestroy(preference);
    for (cublasLtMatrixLayout_t each : {of_weight, of_x, of_out})
        cublasLtMatrixLayoutDestroy(each);
    cublasLtMatmulDescDestroy(how);
    CHECK(cublasLtDestroy(blas) == CUBLAS_STATUS_SUCCESS);
}

// ---- wmma ----

// Each warp multiplies 16 x 16 matrices: to = 2 a b + c, where b is column by column.
__global__ void multiply_tiles(const half* a, const half* b, const float* c, float* to) {
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> y;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> z;
    const int at = threadIdx.x / warpSize * 256;
    wmma::load_matrix_sync(x, a + at, 16);
    wmma::load_matrix_sync(y, b + at, 16);
    wmma::load_matrix_sync(z, c + at, 16, wmma::mem_row_major);
    for (int i = 0; i < x.num_elements; ++i) x.x[i] *= __float2half(2.0f);
    wmma::mma_sync(z, x, y, z);
    wmma::store_matrix_sync(to + at, z, 16, wmma::mem_row_major);
}

void check_tiles() {
    constexpr int n = 16, warps = 2;
    std::vector<half> a(warps * n * n), b(a.size());
    std::vector<float> c(a.size());
    for (size_t i = 0; i < a.size(); ++i) {
        a[i] = static_cast<float>(i % 7) - 3;
        b[i] = static_cast<float>(i % 11) - 5;
        c[i] = static_cast<float>(i % 5);
    }
    float* to;
    cudaMalloc(&to, c.size() * sizeof(float));
    multiply_tiles<<<1, warps * 32>>>(on_device(a), on_device(b), on_device(c), to);
    const std::vector<float> got = on_host(to, c.size());
    for (int i = 0; i < warps * n * n; ++i) {
        const int first = i / (n * n) * n * n, row = i % (n * n) / n, column = i % n;
        float sum = c[i];
        for (int j = 0; j < n; ++j)
            sum += 2 * float(a[first + row * n + j]) * float(b[first + column * n + j]);
        CHECK(got[i] == sum);
    }
}

// ---- cuRAND: the numbers of NVIDIA's curand_kernel.h (CUDA 13.0) ----

__global__ void draw(unsigned* bits, float* numbers) {
    curandStatePhilox4_32_10_t state;
    curand_init(0, 0, 0, &state);
    for (int i = 0; i < 2; ++i) *bits++ = curand(&state);
    curand_init(0x0123456789abcdef, 7, 9, &state);
    for (int i = 0; i < 6; ++i) *bits++ = curand(&state);
    *numbers++ = curand_uniform(&state);
    *numbers++ = static_cast<float>(curand_uniform_double(&state));
    for (int i = 0; i < 3; ++i) *numbers++ = curand_normal(&state);
    curand_normal(&state);  // the second of a pair
    for (int i = 0; i < 4; ++i) *numbers++ = curand_normal(&state);
    *bits++ = curand(&state);
    skipahead(2, &state);
    *bits++ = curand(&state);
    skipahead(1004, &state);
    *bits++ = curand(&state);
}

void check_random() {
    const std::vector<unsigned> bits = {0x6627e8d5, 0xe169c58d, 0x6f5e7b6a, 0xa027a73f,
                                        0x362598d3, 0x34f71f1a, 0xda821aa7, 0x80e0ec8a,
                                        0xd6b757ad, 0xd5b83aa9, 0x84d3ba85};
    const std::vector<float> numbers = {0.242898852f,   0.27638635f,  0.323138952f,
                                        -0.0753637329f, 0.514366031f, -0.772752225f,
                                        0.263540715f,   0.539348185f, 1.53770638f};
    unsigned* to_bits = on_device(std::vector<unsigned>(bits.size()));
    float* to_numbers = on_device(std::vector<float>(numbers.size()));
    draw<<<1, 1>>>(to_bits, to_numbers);
    CHECK(on_host(to_bits, bits.size()) == bits);
    const std::vector<float> got = on_host(to_numbers, numbers.size());
    for (size_t i = 0; i < numbers.size(); ++i)
        CHECK(std::abs(got[i] - numbers[i]) < 1e-6f);
}

// ---- CUB ----

__global__ void sum_blocks(const int* from, int* to) {
    using Reduce = cub::BlockReduce<int, 64>;
    __shared__ typename Reduce::TempStorage storage;
    const int value = from[blockIdx.x * 64 + threadIdx.x];
    const int sum = Reduce(storage).Sum(value);
    __syncthreads();
    const int most =
        Reduce(storage).Reduce(value, [](int a, int b) { return max(a, b); });
    if (threadIdx.x == 0) to[2 * blockIdx.x] = sum, to[2 * blockIdx.x + 1] = most;
}

// Sums up to each of 64 numbers and before it; of each warp, the sum, and the most of 5.
__global__ void scan_block(const int* from, int* to) {
    using Scan = cub::BlockScan<int, 64>;
    using Warp = cub::WarpReduce<int>;
    __shared__ Scan::TempStorage of_block;
    __shared__ Warp::TempStorage of_warp;
    const int i = threadIdx.x, warp = i / 32;
    Scan(of_block).InclusiveSum(from[i], to[i]);
    __syncthreads();
    int all;
    Scan(of_block).ExclusiveSum(from[i], to[64 + i], all);
    const int sum = Warp(of_warp).Sum(from[i]);
    const int most = Warp(of_warp).Reduce(
        from[i], [](int a, int b) { return max(a, b); }, 5);
    if (i % 32 == 0) to[128 + 2 * warp] = sum, to[129 + 2 * warp] = most;
    if (i == 63) to[132] = all;
}

// Returns what function(temporary, bytes) puts into the first `size` elements of `to`.
std::vector<int> with_temporary(const int* to, size_t size, auto function) {
    size_t bytes = 0;
    CHECK(function(nullptr, bytes) == cudaSuccess);
    void* temporary;
    cudaMalloc(&temporary, bytes);
    CHECK(function(temporary, bytes) == cudaSuccess);
    cudaFree(temporary);
    return on_host(to, size);
}

void check_cub() {
    constexpr int n = 128;
    std::vector<int> values(n);
    for (int i = 0; i < n; ++i) values[i] = i * 37 % 101 - 20;
    const int* from = on_device(values);
    int* to = on_device(std::vector<int>(n));
    sum_blocks<<<2, 64>>>(from, to);
    const std::vector<int> blocks = on_host(to, 4);
    for (int i = 0; i < 2; ++i) {
        const auto begin = values.begin() + 64 * i, end = begin + 64;
        CHECK(blocks[2 * i] == std::accumulate(begin, end, 0));
        CHECK(blocks[2 * i + 1] == *std::max_element(begin, end));
    }
#define WITH(function)                                       \
    [=](void* temporary, size_t& bytes) {                    \
        return cub::function(temporary, bytes, from, to, n); \
    }
    std::vector<int> sorted = values, sums(n);
    std::sort(sorted.begin(), sorted.end());
    std::partial_sum(values.begin(), values.end(), sums.begin());
    CHECK(with_temporary(to, n, WITH(DeviceRadixSort::SortKeys)) == sorted);
    CHECK(with_temporary(to, n, WITH(DeviceScan::InclusiveSum)) == sums);
    const std::vector<int> exclusive =
        with_temporary(to, n, WITH(DeviceScan::ExclusiveSum));
    CHECK(exclusive[0] == 0 && exclusive[n - 1] == sums[n - 2]);
    CHECK(with_temporary(to, 1, WITH(DeviceReduce::Sum))[0] == sums[n - 1]);
    CHECK(with_temporary(to, 1, WITH(DeviceReduce::Max))[0] == sorted[n - 1]);
    CHECK(with_temporary(to, 1, WITH(DeviceReduce::Min))[0] == sorted[0]);
    size_t bytes = 1;
    CHECK(cub::DeviceRadixSort::SortKeys(nullptr, bytes, from, to, n, 0, 32) ==
          cudaSuccess);
    CHECK(cub::DeviceRadixSort::SortKeys(to, bytes, from, to, n, 0, 8) ==
          cudaErrorNotSupported);

    // Equal keys keep their order.
    std::vector<int> keys(n), places(n);
    for (int i = 0; i < n; ++i) keys[i] = i * 7 % 5, places[i] = i;
    const int *of_keys = on_device(keys), *of_places = on_device(places);
    int* sorted_keys = on_device(keys);
    std::stable_sort(places.begin(), places.end(),
                     [&](int a, int b) { return keys[a] > keys[b]; });
    CHECK(with_temporary(to, n, [=](void* temporary, size_t& size) {
              return cub::DeviceRadixSort::SortPairsDescending(
                  temporary, size, of_keys, sorted_keys, of_places, to, n);
          }) == places);
    CHECK(on_host(sorted_keys, 1)[0] == 4 && on_host(sorted_keys, n)[n - 1] == 0);

    int* scanned = on_device(std::vector<int>(133));
    scan_block<<<1, 64>>>(from, scanned);
    const std::vector<int> scan = on_host(scanned, 133);
    CHECK(std::equal(sums.begin(), sums.begin() + 64, scan.begin()));
    CHECK(scan[64] == 0 && std::equal(sums.begin(), sums.begin() + 63, &scan[65]));
    CHECK(scan[128] == sums[31] && scan[130] == sums[63] - sums[31]);
    CHECK(scan[129] == *std::max_element(values.begin(), values.begin() + 5));
    CHECK(scan[131] == *std::max_element(values.begin() + 32, values.begin() + 37));
    CHECK(scan[132] == sums[63]);
    std::reverse(sorted.begin(), sorted.end());
    CHECK(with_temporary(to, n, WITH(DeviceRadixSort::SortKeysDescending)) == sorted);
}

int main() {
    check_groups();
    check_grid();
    check_blas();
    check_blas_lt();
    check_tiles();
    check_random();
    check_cub();
    printf("%d failures\n", failures);
    return failures;
}
