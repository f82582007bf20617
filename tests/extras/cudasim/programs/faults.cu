// Small programs with one fault each, and without it if `wrong` is false. `faults wrong` runs
// all with the fault, `faults right` without it; `faults list` prints the kind and the first
// line of each.
//
// a has n = 256 numbers from 0 up; b has n numbers that were never written.

#include <cooperative_groups.h>
#include <cub/cub.cuh>

#include <cstdio>
#include <cstring>
#include <vector>

struct Fault {
    using Kernel = void (*)(int* a, int* b, int n, bool wrong);
    Fault(const char* kind, int line, Kernel run, int blocks = 0, int threads = 0)
        : kind(kind), line(line), run(run), blocks(blocks), threads(threads) {
        all().push_back(this);
    }
    static std::vector<Fault*>& all() {
        static std::vector<Fault*> faults;
        return faults;
    }
    const char* kind;
    int line;
    Kernel run;  // a kernel, or a function of the host if there are no blocks
    int blocks, threads;
};

#define FAULT(kind, name, blocks, threads)                            \
    __global__ void name(int* a, int* b, int n, bool wrong);          \
    static Fault name##_fault(kind, __LINE__, name, blocks, threads); \
    __global__ void name(int* a, int* b, int n, bool wrong)
// With a kernel of its own, so that findings in it lie on the fault's first line.
#define HOST_FAULT(kind, name)                                                        \
    __global__ void name##_kernel(int* x, int n, bool reads) {                        \
        for (int i = I; i < n; i += gridDim.x * blockDim.x)                           \
            x[i] = (reads ? x[i] : 0) + 1;                                            \
    }                                                                                 \
    static void name(decltype(name##_kernel)* kernel, int* a, int* b, int n,          \
                     bool wrong);                                                     \
    static Fault name##_fault(kind, __LINE__, [](int* a, int* b, int n, bool wrong) { \
        name(name##_kernel, a, b, n, wrong);                                          \
    });                                                                               \
    static void name(decltype(name##_kernel)* kernel, int* a, int* b, int n, bool wrong)
#define T ((int)threadIdx.x)
#define I ((int)(blockIdx.x * blockDim.x + threadIdx.x))

__device__ int finished, sums[4], table[10];
__constant__ int weights[4] = {1, 2, 3, 4};

// ---- races ----

FAULT("race", reverse, 1, 64) {
    __shared__ int s[64];
    s[T] = a[T];
    if (!wrong) __syncthreads();
    b[T] = s[63 - T];
}
FAULT("race", two_block_sums_in_one_storage, 1, 64) {
    __shared__ cub::BlockReduce<int, 64>::TempStorage storage;
    const int sum = cub::BlockReduce<int, 64>(storage).Sum(a[T]);
    if (!wrong) __syncthreads();
    const int twice = cub::BlockReduce<int, 64>(storage).Sum(2 * a[T]);
    if (T == 0) b[0] = sum + twice;
}
FAULT("race", reverse_by_group, 1, 64) {
    __shared__ int s[64];
    const auto block = cooperative_groups::this_thread_block();
    s[block.thread_rank()] = a[T];
    if (!wrong) block.sync();
    b[T] = s[block.size() - 1 - block.thread_rank()];
}
FAULT("race", sum_of_a_tile, 1, 64) {
    __shared__ int s[64];
    const auto tile =
        cooperative_groups::tiled_partition<16>(cooperative_groups::this_thread_block());
    s[T] = a[T];
    if (!wrong) tile.sync();
    b[T] = s[T / 16 * 16 + (tile.thread_rank() + 1) % tile.size()];
}
FAULT("race", tree_sum, 1, 128) {
    __shared__ int s[128];
    s[T] = a[T];
    __syncthreads();
    for (int k = 64; k > 0; k /= 2) {
        if (T < k) s[T] += s[T + k];
        if (!wrong) __syncthreads();
    }
}
FAULT("race", tail_of_one_warp, 1, 32) {
    __shared__ int s[32];
    s[T] = a[T];
    __syncwarp();
    for (int k = 16; k > 0; k /= 2) {
        if (T < k) s[T] += s[T + k];
        if (!wrong) __syncwarp();
    }
}
FAULT("race", structure_of_a_function, 1, 32) {
    struct Six {
        int values[6];
    };
    const auto six_from = [](int first) {
        Six six;
        for (int i = 0; i < 6; ++i) six.values[i] = first + i;
        return six;
    };
    Six* const sixes = reinterpret_cast<Six*>(b);
    sixes[wrong ? 0 : T] = T % 2 ? six_from(a[T]) : six_from(a[T] + 1);
}
FAULT("race", array_used_again, 1, 64) {
    __shared__ int s[64];
    for (int round = 0; round < 2; ++round) {
        s[T] = a[T] + round;
        __syncthreads();
        b[T] = s[0];
        if (!wrong) __syncthreads();
    }
}
FAULT("race", scan_in_place, 1, 64) {
    __shared__ int s[64];
    s[T] = a[T];
    __syncthreads();
    for (int k = 1; k < 64; k *= 2) {
        const int left = T >= k ? s[T - k] : 0;
        if (!wrong) __syncthreads();
        s[T] += left;
        __syncthreads();
    }
}
FAULT("race", transposed_tile, 1, 64) {
    __shared__ int tile[8][9];
    tile[T / 8][T % 8] = a[T];
    if (!wrong) __syncthreads();
    b[T] = tile[T % 8][T / 8];
}
FAULT("race", neighbours_of_a_warp, 1, 32) {
    __shared__ int s[32];
    s[T] = a[T];
    if (!wrong) __syncwarp();
    b[T] = s[T ^ 1];
}
FAULT("race", counter_not_cleared_yet, 1, 64) {
    __shared__ int count;
    if (T == 0) count = 0;
    if (!wrong) __syncthreads();
    atomicAdd(&count, 1);
    __syncthreads();
    b[T] = count;
}
FAULT("race", counter_read_too_early, 1, 64) {
    __shared__ int count;
    if (T == 0) count = 0;
    __syncthreads();
    atomicAdd(&count, 1);
    if (!wrong) __syncthreads();
    b[T] = count;
}
FAULT("race", two_of_three_barriers, 1, 64) {
    __shared__ int s[2][64];
    s[0][T] = a[T];
    __syncthreads();
    s[1][T] = s[0][(T + 1) % 64];
    if (!wrong) __syncthreads();
    s[0][T] = s[1][T];
    __syncthreads();
    b[T] = s[0][T];
}
FAULT("race", global_histogram, 1, 64) {
    if (wrong)
        ++a[T % 8];
    else
        atomicAdd(&a[T % 8], 1);
}
FAULT("race", bits_of_one_word, 1, 64) {
    if (wrong)
        a[T / 32] |= 1 << T % 32;
    else
        atomicOr(&a[T / 32], 1 << T % 32);
}
FAULT("race", shift_in_place, 1, 64) {
    const int right = a[T + 1];
    if (!wrong) __syncthreads();
    a[T] = right;
}
FAULT("race", other_block_s_output, 2, 64) {
    a[I] = I;
    b[I] = a[wrong ? (I + 64) % 128 : I];
}
FAULT("race", total_of_blocks, 4, 32) {
    if (T > 0) return;
    if (wrong)
        a[0] += blockIdx.x + 1;
    else
        atomicAdd(&a[0], blockIdx.x + 1);
}
FAULT("race", no_grid_stride, 2, 64) {
    for (int i = wrong ? T : I; i < n; i += wrong ? 64 : 128) a[i] = blockIdx.x;
}
FAULT("race", lock_without_fence, 4, 1) {
    while (atomicCAS(&a[0], 0, 1) != 0) {
    }
    if (!wrong) __threadfence();
    a[1] += 1;
    if (!wrong) __threadfence();
    atomicExch(&a[0], 0);
}
FAULT("race", last_block_without_fence, 4, 1) {
    sums[blockIdx.x] = blockIdx.x;
    if (!wrong) __threadfence();
    if (atomicAdd(&finished, 1) % 4 < 3) return;
    if (!wrong) __threadfence();
    for (int i = 0; i < 4; ++i) a[0] += sums[i];
}

FAULT("race", flag_that_is_not_volatile, 2, 1) {
    int* const flag = &a[0];
    if (blockIdx.x == 0)
        wrong ? * flag = 1 : *(volatile int*)flag = 1;
    else
        b[0] = *(volatile int*)flag;
}
FAULT("race", volatile_flag_without_fence, 2, 1) {
    volatile int* const flag = &a[0];
    if (atomicAdd(&finished, 1) % 2 == 0) {  // the block that runs first
        a[1] = 5;
        if (!wrong) __threadfence();
        *flag = 1;
    } else if (*flag == 1) {
        if (!wrong) __threadfence();
        b[0] = a[1];
    }
}

// ---- the same value from several threads ----

constexpr const char* kNote = "note: the same value from several threads";
FAULT(kNote, flag, 1, 64) {
    if (wrong || T == 0) a[0] = 1;
}
FAULT(kNote, shared_flag, 1, 64) {
    __shared__ bool found;
    if (T == 0) found = false;
    __syncthreads();
    if (wrong ? a[T] > 5 : T == 6) found = true;
    __syncthreads();
    b[T] = found;
}
FAULT(kNote, result_of_all_lanes, 1, 32) {
    const int sum = __shfl_sync(~0u, a[T], 7);
    if (wrong || T == 0) b[0] = sum;
}
FAULT(kNote, each_block_its_extent, 3, 1) {
    if (wrong || blockIdx.x == 0) b[0] = gridDim.x;
}

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

// ---- barriers ----

constexpr const char* kBarrier = "barrier not reached by all";
FAULT(kBarrier, barrier_in_a_branch, 1, 64) {
    if (T < 32) {
        a[T] = T;
        if (wrong) __syncthreads();
    }
    if (!wrong) __syncthreads();
}
FAULT(kBarrier, early_return, 1, 64) {
    if (wrong && T >= 50) return;
    if (T < 50) a[T] = T;
    __syncthreads();
}
FAULT(kBarrier, loop_of_each_thread, 1, 64) {
    for (int i = 0; i < (wrong ? T % 3 : 3); ++i) __syncthreads();
}
FAULT(kBarrier, two_branches, 1, 64) {
    if (!wrong)
        __syncthreads();
    else if (T % 2 == 0)
        __syncthreads();
    else
        __syncthreads();
}
FAULT(kBarrier, grid_sync_without_cooperative_launch, 2, 32) {
    if (wrong) cooperative_groups::this_grid().sync();
}
FAULT(kBarrier, half_a_warp_waits, 1, 32) {
    if (!wrong || T < 16) __syncwarp();
    __syncthreads();
}
FAULT(kBarrier, one_atomic_for_the_lanes_of_a_branch, 1, 64) {
    if (T % 3 == 1) {
        const unsigned lanes = wrong ? ~0u : __activemask();
        const int leader = __ffs(lanes) - 1;
        const int first = T % 32 == leader ? atomicAdd(&a[0], __popc(lanes)) : 0;
        b[T] = __shfl_sync(lanes, first, leader);
    }
    __syncthreads();
}
FAULT(kBarrier, group_of_the_lanes_of_a_branch, 1, 64) {
    namespace cg = cooperative_groups;
    if (T % 3 == 1)
        b[T] = (wrong ? cg::coalesced_group(~0u) : cg::coalesced_threads()).shfl(a[T], 0);
    __syncthreads();
}

// ---- warps ----

constexpr const char* kMask = "wrong warp mask";
FAULT(kMask, mask_of_a_half, 1, 32) {
    b[T] = __shfl_down_sync(wrong ? 0xffff : ~0u, a[T], 8, 16);
}
FAULT(kMask, vote_of_a_half, 1, 32) {
    if (wrong || T < 16) b[T] = __ballot_sync(0xffff, a[T] > 3);
}
FAULT(kMask, source_outside_of_the_mask, 1, 32) {
    if (T < 8) b[T] = __shfl_sync(0xff, a[T], wrong ? 9 : 7);
}
FAULT(kMask, lane_has_ended, 1, 32) {
    if (wrong && T >= 16) return;
    b[T] = __shfl_xor_sync(~0u, a[T], 16);
}
FAULT(kMask, warp_that_is_not_full, 1, 40) {
    if (wrong || T < 32) b[T] = __shfl_down_sync(~0u, a[T], 4);
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

// ---- blocks that wait for blocks ----

constexpr const char* kSpin = "waits forever";
FAULT(kSpin, waits_for_the_block_before, 3, 1) {
    while (wrong && atomicAdd(&a[0], 0) < (int)blockIdx.x) {
    }
    atomicAdd(&a[0], 1);
}
FAULT(kSpin, waits_for_all_blocks, 3, 1) {
    atomicAdd(&a[0], 1);
    while (wrong && atomicAdd(&a[0], 0) < 3) {
    }
}
FAULT(kSpin, waits_for_a_host_that_waits, 1, 1) {
    while (wrong && atomicAdd(&a[0], 0) == 0) {
    }
}

HOST_FAULT("out of bounds", sum_of_too_many) {
    size_t bytes = 0;
    cub::DeviceReduce::Sum(nullptr, bytes, a, a, n);
    void* temporary;
    cudaMalloc(&temporary, bytes);
    cub::DeviceReduce::Sum(temporary, bytes, a, a, wrong ? n + 1 : n);
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

int main(int, char** arguments) {
    const bool list = strcmp(arguments[1], "list") == 0;
    for (const Fault* each : Fault::all()) {
        if (list) {
            printf("%d %s\n", each->line, each->kind);
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
