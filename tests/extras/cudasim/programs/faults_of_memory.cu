// Faults of addresses, and reads of memory that was never written.

#include <cstddef>
#include <vector>

#include <cub/cub.cuh>

#include "faults.h"

__device__ int table[10];
__constant__ int weights[4] = {1, 2, 3, 4};

// ---- out of bounds ----

constexpr const char* kBounds = "out of bounds";
FAULT(kBounds, guard_off_by_one, 2, 192) {
    if (wrong ? I <= n : I < n) a[I] = 0;
}
FAULT(kBounds, left_halo, 1, 256) { b[T] = wrong || T > 0 ? a[T - 1] : 0; }
FAULT(kBounds, pitch_of_another_matrix, 1, 256) {
    b[T] = a[T / 32 * (wrong ? 33 : 32) + T % 32];
}
FAULT(kBounds, negative_remainder, 1, 128) {
    b[T] = a[wrong ? (T - 3) % n : (T + n - 3) % n];
}
FAULT(kBounds, four_at_once, 1, 65) {
    if (T < (wrong ? 65 : 64)) reinterpret_cast<int4*>(b)[T] = make_int4(0, 0, 0, 0);
}
FAULT(kBounds, shared_array, 1, 64) {
    __shared__ int s[32];
    if (wrong || T < 32) s[T] = a[T], b[T] = s[T];
}
FAULT(kBounds, own_array, 1, 32) {
    int counts[4] = {};
    for (int i = 0; i <= (wrong ? 4 : 3); ++i) counts[i % n] += a[T];
    b[T] = counts[T % 4];
}
FAULT(kBounds, from_one_shared_array_to_another, 1, 32) {
    __shared__ int s[4][32], t[32];
    s[wrong ? n / 64 : 3][T] = t[T] = a[T];
    b[T] = s[3][T] + t[T];
}
FAULT(kBounds, device_array, 1, 11) {
    if (wrong || T < 10) table[T] = T;
}
FAULT(kBounds, constant_array, 1, 8) { b[T] = weights[T % (wrong ? 5 : 4)]; }
FAULT(kBounds, one_step_too_far, 2, 32) {
    for (int i = I; i < (wrong ? n + 1 : n); i += 64) a[i] = i;
}
__global__ void copy_through_dynamic(const int* a, int* b);
HOST_FAULT(kBounds, no_dynamic_memory) {
    copy_through_dynamic<<<1, 64, wrong ? 128 : 256>>>(a, b);
}
__global__ void copy_through_dynamic(const int* a, int* b) {
    extern __shared__ int s[];
    s[T] = a[T];
    b[T] = s[T];
}
HOST_FAULT(kBounds, numbers_for_bytes) {
    int* x;
    cudaMalloc(&x, wrong ? n : n * sizeof(int));
    kernel<<<1, 64>>>(x, n, false);
}

HOST_FAULT(kBounds, sum_of_too_many) {
    size_t bytes = 0;
    cub::DeviceReduce::Sum(nullptr, bytes, a, a, n);
    void* temporary;
    cudaMalloc(&temporary, bytes);
    cub::DeviceReduce::Sum(temporary, bytes, a, a, wrong ? n + 1 : n);
}

// ---- uninitialised reads ----

constexpr const char* kUnset = "uninitialised read";
FAULT(kUnset, output_not_cleared, 1, 64) { b[T] = wrong ? b[T] + a[T] : a[T]; }
FAULT(kUnset, shared_sum, 1, 64) {
    __shared__ int sum;
    if (!wrong && T == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, a[T]);
}
FAULT(kUnset, part_of_a_tile, 1, 64) {
    __shared__ int s[64];
    if (!wrong || T < 48) s[T] = a[T];
    __syncthreads();
    b[T] = s[63 - T];
}
FAULT(kUnset, every_other_one, 1, 64) {
    if (!wrong || T % 2 == 0) b[T] = T;
    a[T] = b[T];
}
HOST_FAULT(kUnset, no_copy) {
    if (!wrong) cudaMemset(b, 0, n * sizeof(int));
    kernel<<<1, 64>>>(b, n, true);
}
HOST_FAULT(kUnset, copy_of_n_bytes) {
    cudaMemcpy(b, a, wrong ? n : n * sizeof(int), cudaMemcpyDeviceToDevice);
    kernel<<<1, 64>>>(b, n, true);
}

constexpr const char* kUnwritten = "note: copy of bytes that were never written";
struct Pair {
    double x;
    int i;  // then a gap
};
__global__ void set_pairs(Pair* pairs) { pairs[T].x = pairs[T].i = T; }
HOST_FAULT(kUnwritten, grid_that_is_too_small) {
    std::vector<int> v(n);
    kernel<<<1, 64>>>(b, wrong ? n - 20 : n, false);
    cudaMemcpy(v.data(), b, n * sizeof(int), cudaMemcpyDeviceToHost);
    Pair *pairs, on_host[8];
    cudaMalloc(&pairs, sizeof on_host);
    set_pairs<<<1, 8>>>(pairs);
    cudaMemcpy(on_host, pairs, sizeof on_host, cudaMemcpyDeviceToHost);
}
HOST_FAULT(kUnwritten, kernel_that_is_not_launched) {
    if (!wrong) kernel<<<1, 64>>>(b, n, false);
    cudaMemcpyAsync(std::vector<int>(n).data(), b, 64, cudaMemcpyDeviceToHost);
}

// ---- freed memory ----

constexpr const char* kFreed = "use after free";
HOST_FAULT(kFreed, freed_before_the_launch) {
    if (wrong) cudaFree(b);
    kernel<<<1, 64>>>(b, n, false);
}
HOST_FAULT(kFreed, freed_in_a_loop) {
    for (int i = 0; i < 2; ++i) {
        kernel<<<1, 64>>>(a, n, true);
        if (wrong) cudaFree(a);
    }
}
HOST_FAULT(kFreed, pointer_to_old_memory) {
    int *old = a, *larger;
    cudaMalloc(&larger, 2 * n * sizeof(int));
    cudaMemcpy(larger, a, n * sizeof(int), cudaMemcpyDeviceToDevice);
    cudaFree(a);
    kernel<<<1, 64>>>(wrong ? old : larger, n, true);
}
HOST_FAULT(kFreed, freed_in_stream_order) {
    if (wrong) cudaFreeAsync(a, 0);
    kernel<<<1, 64>>>(a, n, true);
    if (!wrong) cudaFreeAsync(a, 0);
}

// ---- pointers of the host and of other devices ----

constexpr const char* kHost = "host pointer in a kernel";
HOST_FAULT(kHost, vector_of_the_host) {
    std::vector<int> v(n);
    kernel<<<1, 64>>>(wrong ? v.data() : a, n, true);
    cudaDeviceSynchronize();
}
HOST_FAULT(kHost, array_on_the_stack) {
    int x[4] = {};
    kernel<<<1, 4>>>(wrong ? x : a, 4, true);
    cudaDeviceSynchronize();
}
HOST_FAULT(kHost, null_pointer) { kernel<<<1, 4>>>(wrong ? nullptr : a, 4, false); }
static int of_the_host[4];
HOST_FAULT(kHost, global_of_the_host) {
    kernel<<<1, 4>>>(wrong ? of_the_host : a, 4, true);
}
struct List {
    int* numbers;
    int count;
};
__global__ void twice_in(List* list);
HOST_FAULT(kHost, host_pointer_in_a_struct) {
    std::vector<int> v(4);
    const List list = {wrong ? v.data() : a, 4};
    List* copy;
    cudaMalloc(&copy, sizeof(List));
    cudaMemcpy(copy, &list, sizeof(List), cudaMemcpyHostToDevice);
    twice_in<<<1, 4>>>(copy);
    cudaDeviceSynchronize();
}
__global__ void twice_in(List* list) {
    if (T < list->count) list->numbers[T] *= 2;
}
HOST_FAULT("another device's pointer", memory_of_device_1) {
    int* x;
    cudaSetDevice(1);
    cudaMalloc(&x, n * sizeof(int));
    if (wrong) cudaSetDevice(0);
    kernel<<<1, 64>>>(x, n, false);
    cudaDeviceSynchronize();
    cudaSetDevice(0);
}
HOST_FAULT("another device's pointer", kernel_on_device_1) {
    if (wrong) cudaSetDevice(1);
    kernel<<<1, 64>>>(a, n, false);
    cudaDeviceSynchronize();
    cudaSetDevice(0);
}
constexpr const char* kOnHost = "device pointer on the host";
HOST_FAULT(kOnHost, result_read_in_place) {
    int first = 0;
    cudaMemcpy(&first, a, sizeof(int), cudaMemcpyDeviceToHost);
    if ((wrong ? a[0] : first) != 0) printf("a[0] is not 0\n");
}
HOST_FAULT(kOnHost, loop_of_the_host) {
    std::vector<int> v(n);
    for (int i = 0; i < n; ++i) (wrong ? b : v.data())[i] = i;
}
HOST_FAULT(kOnHost, memcpy_of_c) {
    std::vector<int> v(n);
    if (wrong)
        memcpy(b, v.data(), n * sizeof(int));
    else
        cudaMemcpy(b, v.data(), n * sizeof(int), cudaMemcpyHostToDevice);
}

// ---- alignment ----

constexpr const char* kMisaligned = "misaligned access";
FAULT(kMisaligned, two_numbers_at_an_odd_one, 1, 8) {
    const int2 two = reinterpret_cast<int2*>(a + (wrong ? 1 : 2))[T];
    reinterpret_cast<int2*>(b)[T] = two;
}
FAULT(kMisaligned, four_numbers_at_a_second, 1, 8) {
    reinterpret_cast<int4*>(b + (wrong ? 2 : 4))[T] = make_int4(T, T, T, T);
}
FAULT(kMisaligned, double_after_an_int, 1, 1) {
    __shared__ __align__(16) char bytes[32];
    double* const x = reinterpret_cast<double*>(bytes + (wrong ? 4 : 8));
    *x = a[0];
    __syncthreads();
    b[0] = *x;
}
FAULT(kMisaligned, int_in_a_byte_stream, 1, 8) {
    b[T] = *reinterpret_cast<int*>(reinterpret_cast<char*>(a) + T * (wrong ? 5 : 8));
}
FAULT(kMisaligned, short_at_an_odd_byte, 1, 4) {
    b[T] =
        *reinterpret_cast<short*>(reinterpret_cast<char*>(a) + 2 * T + (wrong ? 1 : 2));
}
