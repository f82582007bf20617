// Faults of the host's calls, and main().

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
