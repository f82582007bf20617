// Faults of the host's calls, and main().

#include <vector>

#if __has_include(<thrust/sort.h>)
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#endif

#include "faults.h"

// ---- streams ----

constexpr const char* kSync = "missing synchronisation";
struct Streams {
    Streams() {
        for (cudaStream_t& each : s)
            cudaStreamCreateWithFlags(&each, cudaStreamNonBlocking);
        cudaEventCreate(&event);
        cudaMallocHost(&pinned, 1024);
        memset(pinned, 0, 1024);
    }
    ~Streams() { cudaDeviceSynchronize(); }
    cudaStream_t s[2];
    cudaEvent_t event;
    int* pinned;
};
HOST_FAULT(kSync, copy_in_another_stream) {
    Streams of;
    cudaMemcpyAsync(a, of.pinned, 1024, cudaMemcpyHostToDevice, of.s[0]);
    kernel<<<1, 64, 0, of.s[wrong ? 1 : 0]>>>(a, n, true);
}
HOST_FAULT(kSync, event_not_waited_for) {
    Streams of;
    kernel<<<1, 64, 0, of.s[0]>>>(a, n, true);
    cudaEventRecord(of.event, of.s[0]);
    if (!wrong) cudaStreamWaitEvent(of.s[1], of.event, 0);
    kernel<<<1, 64, 0, of.s[1]>>>(a, n, true);
}
HOST_FAULT(kSync, event_recorded_too_early) {
    Streams of;
    if (wrong) cudaEventRecord(of.event, of.s[0]);
    kernel<<<1, 64, 0, of.s[0]>>>(a, n, true);
    if (!wrong) cudaEventRecord(of.event, of.s[0]);
    cudaStreamWaitEvent(of.s[1], of.event, 0);
    kernel<<<1, 64, 0, of.s[1]>>>(a, n, true);
}
HOST_FAULT(kSync, result_read_before_the_copy) {
    Streams of;
    cudaMemcpyAsync(of.pinned, a, 1024, cudaMemcpyDeviceToHost, of.s[0]);
    if (!wrong) cudaStreamSynchronize(of.s[0]);
    if (of.pinned[0] != 0) printf("not 0\n");
}
HOST_FAULT(kSync, source_changed_during_the_copy) {
    Streams of;
    cudaMemcpyAsync(a, of.pinned, 1024, cudaMemcpyHostToDevice, of.s[0]);
    if (!wrong) cudaStreamSynchronize(of.s[0]);
    of.pinned[0] = 7;
}
HOST_FAULT(kSync, stream_that_does_not_block) {
    Streams of;
    kernel<<<1, 64, 0, of.s[0]>>>(a, n, false);
    kernel<<<1, 64, 0, wrong ? nullptr : of.s[0]>>>(a, n, true);
}

// ---- launches ----

constexpr const char* kRefused = "launch refused";
HOST_FAULT(kRefused, block_of_2000_threads) {
    kernel<<<1, wrong ? 2000 : 1000>>>(a, n, true);
}
HOST_FAULT(kRefused, empty_grid) { kernel<<<wrong ? 0 : 1, 32>>>(a, n, true); }
HOST_FAULT(kRefused, much_dynamic_shared_memory) {
    kernel<<<1, 32, wrong ? 50'000 : 48'000>>>(a, n, true);
}

// ---- copies, fills and frees ----

constexpr const char* kCall = "call refused";
HOST_FAULT(kCall, copy_of_too_many_bytes) {
    std::vector<int> v(2 * n);
    cudaMemcpy(b, v.data(), (wrong ? n + 1 : n) * sizeof(int), cudaMemcpyHostToDevice);
}
HOST_FAULT(kCall, exchanged_pointers) {
    int x = 0;
    cudaMemcpy(wrong ? &x : a, wrong ? a : &x, sizeof(int), cudaMemcpyHostToDevice);
}
HOST_FAULT(kCall, copy_with_the_wrong_device) {
    int* x;
    cudaSetDevice(1);
    cudaMalloc(&x, n * sizeof(int));
    cudaSetDevice(0);
    cudaMemcpyPeer(x, wrong ? 0 : 1, a, 0, n * sizeof(int));
}
HOST_FAULT(kCall, fill_of_too_many_bytes) {
    cudaMemset(b + (wrong ? 1 : 0), 0, n * sizeof(int));
}
HOST_FAULT(kCall, freed_twice) {
    cudaFree(b);
    if (wrong) cudaFree(b);
}
HOST_FAULT(kCall, host_s_memory_freed) {
    int x;
    cudaFree(wrong ? &x : b);
}

// ---- shared memory of another kernel ----

__global__ void keep_pointer(int* to) {
    __shared__ int s[32];
    s[0] = 1;
    *reinterpret_cast<int**>(to) = s;
}
HOST_FAULT("out of bounds", shared_array_of_another_kernel) {
    int* pointer;
    keep_pointer<<<1, 1>>>(b);
    cudaMemcpy(&pointer, b, sizeof pointer, cudaMemcpyDeviceToHost);
    kernel<<<1, 1>>>(wrong ? pointer : a, 1, false);
}

// ---- Thrust ----

#if __has_include(<thrust/sort.h>)
using Vector = thrust::device_vector<int>;
HOST_FAULT("out of bounds", kernel_beyond_a_vector) {
    Vector v(n, 1);
    kernel<<<1, 64>>>(thrust::raw_pointer_cast(v.data()), wrong ? n + 1 : n, true);
}
HOST_FAULT("out of bounds", algorithm_beyond_a_vector) {
    Vector v(n, 1);
    thrust::sort(v.begin(), v.end() + (wrong ? 1 : 0));
}
HOST_FAULT("use after free", vector_after_its_end) {
    Vector *const first = new Vector(n, 1), second(n, 1);
    int* const x = thrust::raw_pointer_cast(wrong ? first->data() : second.data());
    delete first;
    kernel<<<1, 64>>>(x, n, true);
}
HOST_FAULT("host pointer in a kernel", algorithm_on_host_memory) {
    std::vector<int> v(n);
    thrust::sort(thrust::device, wrong ? v.data() : a, (wrong ? v.data() : a) + n);
}
HOST_FAULT(kSync, algorithm_in_another_stream) {
    Streams of;
    kernel<<<1, 64, 0, of.s[0]>>>(a, n, true);
    thrust::sort(thrust::cuda::par.on(of.s[wrong ? 1 : 0]), a, a + n);
}
HOST_FAULT("uninitialised read", algorithm_on_unwritten_memory) {
    const thrust::device_ptr<int> from(wrong ? b : a);
    Vector v(from, from + n), even(n);
    thrust::inclusive_scan(v.begin(), v.end(), v.begin());
    auto end = thrust::copy_if(v.begin(), v.end(), even.begin(),
                               [] __device__(int x) { return x % 2 == 0; });
    thrust::sort(even.begin(), end, thrust::greater<int>());
    const int sum = thrust::reduce(even.begin(), end);
    int all = 0, wanted = 0;
    for (int i = 0; i < n; ++i) wanted += (all += i) % 2 == 0 ? all : 0;
    if (!wrong && (sum != wanted || even[0] != all)) printf("not %d\n", wanted);
}
#endif

int main(int, char** arguments) {
    const bool list = strcmp(arguments[1], "list") == 0;
    for (const Fault* each : Fault::all()) {
        if (list) {
            printf("%s %d %s\n", each->file, each->line, each->kind);
            continue;
        }
        constexpr int n = 256;
        int *a, *b, host[n];
        for (int i = 0; i < n; ++i) host[i] = i;
        cudaMalloc(&a, sizeof host);
        cudaMalloc(&b, sizeof host);
        cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
        cudaDeviceSynchronize();
        const bool wrong = strcmp(arguments[1], "wrong") == 0;
        if (each->blocks == 0)
            each->run(a, b, n, wrong);
        else
            each->run<<<each->blocks, each->threads>>>(a, b, n, wrong);
        if (cudaDeviceSynchronize() != cudaSuccess) cudaDeviceReset();
    }
}
