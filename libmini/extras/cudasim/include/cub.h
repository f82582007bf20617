// The part of CUB that small programs use: reductions of a block or a warp and scans of a block, and
// reductions, sums and sorts of an array, which are one thread of a kernel each.

#pragma once

#include <algorithm>
#include <numeric>

#include "libmini/extras/cudasim/program.hpp"

namespace cub {

MINI_WORD int thread() { return static_cast<int>(mini::sim::running().thread); }

/// The values of the threads of a block. As on a GPU, a __syncthreads() must stand between two
/// uses of one TempStorage.
template <typename T, int Threads>
struct BlockValues {
    struct TempStorage {
        T values[Threads];
    } & storage;

    explicit BlockValues(TempStorage& storage) : storage(storage) {}
    /// Returns f of the values of the first n threads, to thread 0.
    T Reduce(T value, auto f, int n = Threads) {
        share(value);
        return thread() == 0 ? std::accumulate(all + 1, all + n, value, f) : value;
    }
    T Sum(T value, int n = Threads) { return Reduce(value, std::plus<T>(), n); }
    void InclusiveSum(T value, T& to) {
        share(value);
        to = std::accumulate(all, all + thread() + 1, T{});
    }
    void ExclusiveSum(T value, T& to) {
        share(value);
        to = std::accumulate(all, all + thread(), T{});
    }
    void ExclusiveSum(T value, T& to, T& sum) {
        ExclusiveSum(value, to);
        sum = std::accumulate(all, all + Threads, T{});
    }

  private:
    void share(T value) {
        storage.values[thread()] = value;
        __syncthreads();
    }

    const T* const all = storage.values;
};
template <typename T, int Threads>
using BlockReduce = BlockValues<T, Threads>;
template <typename T, int Threads>
using BlockScan = BlockValues<T, Threads>;

/// Combines the values of `Lanes` lanes of a warp, for the first of them.
template <typename T, int Lanes = 32>
struct WarpReduce {
    struct TempStorage {};
    explicit WarpReduce(TempStorage&) {}
    T Reduce(T value, auto f, int n = Lanes) {
        for (int by = 1; by < Lanes; by *= 2) {
            const T other = __shfl_down_sync(0xffffffffu, value, by, Lanes);
            if (thread() % Lanes + by < n) value = f(value, other);
        }
        return value;
    }
    T Sum(T value, int n = Lanes) { return Reduce(value, std::plus<T>(), n); }
};

template <typename Work>
__global__ auto array_kernel(Work work) {
    return work();
}
/// Without `temporary`, sets its size to `needs`; with it, enqueues work().
template <typename Work>
cudaError_t on_array(void* temporary, size_t& bytes, size_t needs, cudaStream_t stream,
                     Work work) {
    bytes = temporary == nullptr ? needs : bytes;
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
        return on_array(temporary, bytes, 1, stream, [=] { __VA_ARGS__; });                 \
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

/// Sorts n keys and their values. Equal keys keep their order.
void sort_pairs(size_t* order, auto* from, auto* to, auto* values, auto* to_values, size_t n,
                auto less) {
    std::iota(order, order + n, size_t{0});
    std::sort(order, order + n, [&](size_t a, size_t b) {
        return less(from[a], from[b]) || (!less(from[b], from[a]) && a < b);
    });
    for (size_t i = 0; i < n; ++i) to[i] = from[order[i]], to_values[i] = values[order[i]];
}
/// Sorts by all bits of the keys; another range of bits is refused.
struct DeviceRadixSort {
#define MINI_SORT(direction, less)                                                          \
    template <typename K, typename V>                                                       \
    static cudaError_t SortPairs##direction(                                                \
        void* temporary, size_t& bytes, const K* from, K* to, const V* values,              \
        V* to_values, size_t n, int begin = 0, int end = 8 * sizeof(K),                     \
        cudaStream_t stream = nullptr) {                                                    \
        if (begin != 0 || end != 8 * sizeof(K)) return cudaErrorNotSupported;               \
        auto* const order = static_cast<size_t*>(temporary);                                \
        return on_array(temporary, bytes, (n + 1) * sizeof(size_t), stream, [=] {           \
            sort_pairs(order, from, to, values, to_values, n, less());                      \
        });                                                                                 \
    }                                                                                       \
    template <typename K>                                                                   \
    static cudaError_t SortKeys##direction(void* temporary, size_t& bytes, const K* from,   \
                                           K* to, size_t n, auto... others) {               \
        return SortPairs##direction(temporary, bytes, from, to, from, to, n, others...);    \
    }
    MINI_SORT(, std::less)
    MINI_SORT(Descending, std::greater)
};

}  // namespace cub
