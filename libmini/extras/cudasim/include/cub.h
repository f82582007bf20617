// The part of CUB that small programs use: reductions of a block, and reductions, sums and sorts
// of an array, which are one thread of a kernel each.

#pragma once

#include <algorithm>
#include <numeric>

#include "libmini/extras/cudasim/program.hpp"

namespace cub {

/// Combines values of the threads of a block. As on a GPU, a __syncthreads() must stand between
/// two uses of one TempStorage.
template <typename T, int Threads>
struct BlockReduce {
    struct TempStorage {
        T values[Threads];
    } & storage;

    explicit BlockReduce(TempStorage& storage) : storage(storage) {}
    /// Returns f of the values of the first n threads, to thread 0.
    T Reduce(T value, auto f, int n = Threads) {
        const unsigned self = mini::sim::running().thread;
        storage.values[self] = value;
        __syncthreads();
        for (int i = 1; self == 0 && i < n; ++i) value = f(value, storage.values[i]);
        return value;
    }
    T Sum(T value, int n = Threads) { return Reduce(value, std::plus<T>(), n); }
};

template <typename Work>
__global__ void array_kernel(Work work) {
    work();
}
/// Without `temporary`, sets its size; with it, enqueues work().
template <typename Work>
cudaError_t on_array(void* temporary, size_t& bytes, cudaStream_t stream, Work work) {
    bytes = temporary == nullptr ? 1 : bytes;
    return temporary == nullptr
               ? cudaSuccess
               : mini::cuda::enqueue_body(
                     {1, 1, 0, stream}, reinterpret_cast<const void*>(&array_kernel<Work>),
                     [=]() MINI_UNCHECKED { array_kernel(work); });
}

// name(temporary, bytes, from, to, n, stream)
#define MINI_ARRAY(name, ...)                                                               \
    template <typename From, typename To>                                                   \
    static cudaError_t name(void* temporary, size_t& bytes, From from, To to, size_t n,     \
                            cudaStream_t stream = nullptr) {                                \
        using T [[maybe_unused]] = std::remove_cvref_t<decltype(*from)>;                    \
        return on_array(temporary, bytes, stream, [=] { __VA_ARGS__; });                    \
    }
struct DeviceReduce {
    MINI_ARRAY(Sum, *to = std::accumulate(from, from + n, T{}))
    MINI_ARRAY(Max, *to = *std::max_element(from, from + n))
    MINI_ARRAY(Min, *to = *std::min_element(from, from + n))
};
struct DeviceScan {
    MINI_ARRAY(InclusiveSum, std::inclusive_scan(from, from + n, to))
    MINI_ARRAY(ExclusiveSum, std::exclusive_scan(from, from + n, to, T{}))
};

/// Sorts by all bits of the keys; another range of bits is refused.
struct DeviceRadixSort {
#define MINI_SORT(name, less)                                                               \
    template <typename K>                                                                   \
    static cudaError_t name(void* temporary, size_t& bytes, const K* from, K* to, size_t n, \
                            int begin = 0, int end = 8 * sizeof(K),                         \
                            cudaStream_t stream = nullptr) {                                \
        if (begin != 0 || end != 8 * sizeof(K)) return cudaErrorNotSupported;               \
        return on_array(temporary, bytes, stream, [=] {                                     \
            std::copy(from, from + n, to);                                                  \
            std::sort(to, to + n, less);                                                    \
        });                                                                                 \
    }
    MINI_SORT(SortKeys, std::less<K>())
    MINI_SORT(SortKeysDescending, std::greater<K>())
};

}  // namespace cub
