// NVIDIA's Thrust (Debian: libthrust-dev): its headers include this file first, which is
// found before NVIDIA's. It adds a device system: Thrust's sequential algorithms, in one
// thread of a kernel each. Copies between host and device are calls of cudaMemcpy.

#pragma once

#define THRUST_DEVICE_SYSTEM 4  // headers of plain C++, with the names of CUDA's system
#include_next <thrust/detail/config.h>
#undef __THRUST_DEVICE_SYSTEM_NAMESPACE
#define __THRUST_DEVICE_SYSTEM_NAMESPACE cuda
#undef __THRUST_DEVICE_SYSTEM_ROOT
#define __THRUST_DEVICE_SYSTEM_ROOT thrust/system/cpp
#include <thrust/system/cpp/detail/execution_policy.h>

namespace thrust::system::cuda {
template <typename Policy>
struct execution_policy : thrust::execution_policy<Policy> {};
struct tag : execution_policy<tag> {
    tag() = default;
    tag(const cpp::tag&) {}  // a copy from or to the host has this system
};
namespace detail {
struct par_t : execution_policy<par_t> {
    par_t on(cudaStream_t stream) const { return cudaStreamSynchronize(stream), par_t(); }
};
}  // namespace detail
}  // namespace thrust::system::cuda

#include <thrust/detail/seq.h>
#include <thrust/system/cpp/memory_resource.h>
#include <thrust/system_error.h>
#include <thrust/type_traits/is_trivially_relocatable.h>

#include "cub.h"
#include "libmini/extras/cudasim/memory.hpp"

// Temporary memory of the sequential algorithms.
namespace thrust::detail {
void* malloc(auto&, size_t bytes) {
    return mini::sim::allocate_memory(bytes, mini::sim::kPinned);
}
void free(auto&, auto at) { mini::sim::free_memory(raw_pointer_cast(at)); }
}  // namespace thrust::detail

namespace thrust::system::cuda {

inline void check(cudaError_t error) {
    if (error != cudaSuccess)
        throw system_error(error, generic_category(), cudaGetErrorString(error));
}

/// Returns work() of one thread of a kernel.
template <typename Work>
auto on_device(const char* name, Work work) {
    using Result = decltype(work());
    if constexpr (std::is_void_v<Result>) {
        on_device(name, [=] { return work(), 0; });
    } else {
        if (mini::sim::in_kernel()) return work();
        const auto kernel = reinterpret_cast<const void*>(&cub::array_kernel<Work>);
        mini::sim::function_at(kernel, name);
        void* const at = mini::sim::allocate_memory(sizeof(Result), mini::sim::kPinned);
        check(mini::cuda::enqueue_body({1, 1}, kernel, [=]() MINI_UNCHECKED {
            new (at) Result(cub::array_kernel(work));
        }));
        check(cudaStreamSynchronize(nullptr));
        const Result result = *static_cast<Result*>(at);
        mini::sim::free_memory(at);
        return result;
    }
}

// clang-format off
#define MINI_ALGORITHM(name)                                                             \
    template <typename Policy> auto name(execution_policy<Policy>&, auto... all) {       \
        return on_device("thrust::" #name, [=] {                                         \
            thrust::detail::seq_t seq;                                                   \
            return name(seq, all...);                                                    \
        });                                                                              \
    }
#define MINI_PAIR(name) MINI_ALGORITHM(name) MINI_ALGORITHM(name##_by_key)
MINI_PAIR(exclusive_scan) MINI_PAIR(inclusive_scan) MINI_PAIR(merge) MINI_PAIR(reduce)
MINI_PAIR(set_difference) MINI_PAIR(set_intersection) MINI_PAIR(set_symmetric_difference)
MINI_PAIR(set_union) MINI_PAIR(stable_sort) MINI_PAIR(unique) MINI_ALGORITHM(copy_if)
MINI_ALGORITHM(find_if) MINI_ALGORITHM(for_each) MINI_ALGORITHM(for_each_n)
MINI_ALGORITHM(get_value) MINI_ALGORITHM(iter_swap) MINI_ALGORITHM(remove_if)
// clang-format on

template <typename Policy, typename From, typename To>
To copy(execution_policy<Policy>&, From from, From end, To to) {
    constexpr bool is_host = std::is_same_v<iterator_system_t<From>, cpp::tag> ||
                             std::is_same_v<iterator_system_t<To>, cpp::tag>;
    if constexpr (!is_host || !std::is_same_v<Policy, tag>) {
        return on_device("thrust::copy", [=] { return copy(seq, from, end, to); });
    } else if constexpr (is_indirectly_trivially_relocatable_to<From, To>::value) {
        check(cudaMemcpy(raw_pointer_cast(&*to), raw_pointer_cast(&*from),
                         (end - from) * sizeof(iterator_value_t<To>), cudaMemcpyDefault));
        return to + (end - from);
    } else {
        for (; from != end; ++from, ++to) *to = *from;
        return to;
    }
}
template <typename Policy, typename From, typename To>
void assign_value(execution_policy<Policy>&, To to, From from) {
    auto* const at = raw_pointer_cast(to);
    if (mini::sim::in_kernel())
        *at = *raw_pointer_cast(from);
    else
        check(cudaMemcpy(at, raw_pointer_cast(from), sizeof *at, cudaMemcpyDefault));
}

using Pointer = thrust::pointer<void, tag, tagged_reference<void, tag>>;
struct memory_resource final : mr::memory_resource<Pointer> {
    Pointer do_allocate(size_t bytes, size_t) override {
        void* at = nullptr;
        check(cudaMalloc(&at, bytes));
        return Pointer(at);
    }
    void do_deallocate(Pointer at, size_t, size_t) override { cudaFree(at.get()); }
};
using cpp::universal_memory_resource, cpp::universal_host_pinned_memory_resource;

}  // namespace thrust::system::cuda

namespace thrust::cuda {
inline constexpr system::cuda::detail::par_t par;
}
