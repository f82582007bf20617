// The language of plain CUDA programs.

#include "check.h"

__constant__ float weights[3];
__device__ int counter = 5, table[2] = {1, 2};
static __device__ unsigned long long total;
extern __shared__ int file_scope[];

template <typename T>
__device__ __forceinline__ T twice(T x) {
    return x + x;
}

__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = weights[i % 3] * (a[i] + b[i]);
}

template <typename T, int N>
__global__ void reverse(T* x) {
    extern __shared__ __align__(16) unsigned char bytes[];
    T* s = reinterpret_cast<T*>(bytes);
    static __shared__ T t[N];
    s[threadIdx.x] = twice(x[threadIdx.x]);
    __syncthreads();
    t[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
    x[threadIdx.x] = t[threadIdx.x];
}

template <typename T>
__global__ void fill(T* x, T value) {
    x[threadIdx.x] = value;
}

struct WithCopyConstructor {
    int value;
    WithCopyConstructor(int value) : value(value) {}
    WithCopyConstructor(const WithCopyConstructor& other) : value(other.value) {}
    WithCopyConstructor& operator=(const WithCopyConstructor&) = default;
};

__global__ void atomics(int* i, unsigned* u, double* d, float* f) {
    atomicAdd(&counter, table[threadIdx.x % 2]);
    atomicAdd(&total, 1);
    atomicMax(i, (int)threadIdx.x), atomicMin(i + 1, -(int)threadIdx.x);
    atomicInc(u, 9), atomicOr(u + 1, 1u << threadIdx.x), atomicSub(u + 2, 1);
    atomicAdd(d, 0.5), atomicAdd(f, 1.0f);
    if (threadIdx.x == 3) atomicCAS(i + 2, 0, 7), atomicExch(u + 3, 4);
}

__global__ void vectors(float4* f, int2* i, uchar4* c, double2* d) {
    const float4 a = f[threadIdx.x];
    f[threadIdx.x] = make_float4(a.w, a.z, a.y, a.x);
    i[threadIdx.x] = make_int2(threadIdx.x, -1);
    c[threadIdx.x] = make_uchar4(1, 2, 3, 255);
    d[threadIdx.x] = {0.5, 1.5};
}

__global__ void warps(int* out) {
    const int lane = threadIdx.x % warpSize;
    int sum = lane;
    for (int by = 16; by > 0; by /= 2) sum += __shfl_down_sync(0xffffffff, sum, by);
    const int few = __popc(__ballot_sync(0xffffffff, lane < 5));
    const bool last = __any_sync(0xffffffff, lane == 31);
    const int before = __shfl_up_sync(0xffffffff, lane, 1, 8);
    const int swapped = __shfl_xor_sync(0xffffffff, lane, 3);
    file_scope[threadIdx.x] = lane;
    const int high = __syncthreads_count(file_scope[threadIdx.x] > 20);
    if (lane > 0) return;
    out[0] = sum, out[1] = few, out[2] = last ? swapped : 0, out[3] = before,
    out[4] = high;
    out[5] = __clz(1) + __ffs(8) + __brev(1u) / 0x80000000u + max(1, 2u) + min(3.0f, 4.0);
}

__global__ void shape(int* out, dim3 extent, int first = 0) {
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0 && blockIdx.y == 1)
        out[first] = blockDim.x * 100 + blockDim.y * 10 + blockDim.z, out[1] = extent.x;
}

template <typename T>
T* zeros(int n) {
    return on_device(std::vector<T>(n));
}

int main() {
    const int n = 1000;
    std::vector<float> a(n, 1);
    float *da = zeros<float>(n), *db = zeros<float>(n), *dc;
    cudaMalloc((void**)&dc, n * sizeof(float));
    cudaMemcpy(da, a.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    const float given[3] = {1, 2, 3};
    CHECK(cudaMemcpyToSymbol(weights, given, sizeof given) == cudaSuccess);
    dim3 blockDim(256), gridDim((n + blockDim.x - 1) / blockDim.x);
    add<<<gridDim, blockDim>>>(da, db, dc, n);
    CHECK(on_host(dc, n)[998] == 3);
    reverse<float, 64><<<1, 64, 64 * sizeof(float)>>>(dc);
    CHECK(on_host(dc, 64)[0] == 2 && on_host(dc, 64)[63] == 2 &&
          on_host(dc, 64)[62] == 4);
    fill<<<1, 32>>>(dc, 9.f);
    void (*chosen)(float*, float) = fill<float>;
    chosen<<<1, 1>>>(dc, 8);
    CHECK(on_host(dc, 33)[0] == 8 && on_host(dc, 33)[31] == 9);

    int* i = zeros<int>(8);
    unsigned* u = zeros<unsigned>(4);
    double* d = zeros<double>(1);
    cudaMemset(db, 0, 4);
    atomics<<<1, 32>>>(i, u, d, db);
    int count;
    unsigned long long many;
    cudaMemcpyFromSymbol(&count, counter, sizeof count);
    cudaMemcpyFromSymbol(&many, total, sizeof many);
    CHECK(count == 5 + 16 * 3 && many == 32);
    CHECK(on_host(i, 3) == (std::vector<int>{31, -31, 7}));
    CHECK(on_host(u, 4) == (std::vector<unsigned>{2, ~0u, -32u, 4}));
    CHECK(on_host(d, 1)[0] == 16 && on_host(db, 1)[0] == 32);

    float4* f4 = zeros<float4>(2);
    int2* i2 = zeros<int2>(2);
    uchar4* c4 = zeros<uchar4>(2);
    double2* d2 = zeros<double2>(2);
    fill<<<1, 2>>>(f4, make_float4(1, 2, 3, 4));
    vectors<<<1, 2>>>(f4, i2, c4, d2);
    CHECK(on_host(f4, 2)[1].x == 4 && on_host(i2, 2)[1].y == -1);
    CHECK(on_host(c4, 2)[1].w == 255 && on_host(d2, 2)[1].y == 1.5);

    warps<<<1, 32, 32 * sizeof(int)>>>(i);
    CHECK(on_host(i, 6) == (std::vector<int>{496, 5, 3, 0, 11, 31 + 4 + 1 + 2 + 3}));
    shape<<<dim3(1, 2), {4, 3, 2}>>>(i, 7);
    CHECK(on_host(i, 2) == (std::vector<int>{432, 7}));

    // The runtime.
    int* managed;
    cudaMallocManaged(&managed, 4 * sizeof(int));
    fill<<<1, 4>>>(managed, 3);
    CHECK(cudaDeviceSynchronize() == cudaSuccess && managed[3] == 3);
    fill<<<1, 4>>>(reinterpret_cast<WithCopyConstructor*>(managed),
                   WithCopyConstructor(5));
    CHECK(cudaDeviceSynchronize() == cudaSuccess && managed[3] == 5);
    CHECK(cudaFree(managed) == cudaSuccess);
    char *pitched, rows[2][3] = {{1, 2, 3}, {4, 5, 6}}, back[2][3];
    size_t pitch;
    cudaMallocPitch(&pitched, &pitch, 3, 2);
    CHECK(cudaMemcpy2D(pitched, pitch, rows, 3, 3, 2, cudaMemcpyHostToDevice) == 0);
    cudaMemcpy2D(back, 3, pitched, pitch, 3, 2, cudaMemcpyDeviceToHost);
    CHECK(back[1][2] == 6 && pitch >= 3);
    cudaDeviceProp properties;
    cudaGetDeviceProperties(&properties, 0);
    CHECK(properties.maxThreadsPerMultiProcessor == 2048 && properties.warpSize == 32);
    cudaStream_t stream;
    cudaEvent_t begin, end;
    cudaStreamCreate(&stream), cudaEventCreate(&begin), cudaEventCreate(&end);
    cudaEventRecord(begin, stream);
    add<<<gridDim, blockDim, 0, stream>>>(da, da, dc, n);
    cudaEventRecord(end, stream), cudaEventSynchronize(end);
    float milliseconds = -1;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end) == 0 && milliseconds >= 0);
    add<<<1, 2000>>>(da, da, dc, n);
    CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
    int blocks = 0, threads = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 256, 40 << 10);
    CHECK(blocks == 4);  // 41 of 164 KiB each
    cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, (void*)add, 0, 100);
    CHECK(blocks == 16 * properties.multiProcessorCount && threads == 100);
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, add) == 0);
    CHECK(attributes.maxThreadsPerBlock == 1024 && attributes.sharedSizeBytes == 0);
    int overlap = -1;
    CHECK(cudaDeviceGetAttribute(&overlap, cudaDevAttrGpuOverlap, 0) == 0 &&
          overlap == 0);
    printf("%d failures\n", failures);
    return failures;
}
