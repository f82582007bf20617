// What a plain .cu file finds in place of nvcc's built-in parts: `mini cuda` includes this
// header before the file. driver/translate.py lists what is rewritten.

#pragma once

#include <assert.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmath>
#include <cstddef>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>

#include "libmini/core/parallel.hpp"
#include "libmini/extras/cudasim/api.hpp"
#include "libmini/extras/cudasim/language.hpp"
#include "libmini/extras/cudasim/runtime.hpp"
#include "libmini/extras/cudasim/symbols.hpp"
#include "libmini/extras/cudasim/texture.hpp"

#define MINI_TEXT(...) #__VA_ARGS__

// Where the references lie that stand for variables in device memory.
#define MINI_PLACE __attribute__((section("mini_places")))

#define __CUDACC__ 1
#define __NVCC__ 1
// The guards of CUDA's headers, for programs that ask what is included.
#define __CUDA_RUNTIME_H__
#define __DRIVER_TYPES_H__
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 4

// GCC does not show the checker the stores of a structure that a function returns, unless it
// inlines the function: "flatten" inlines what a kernel calls.
#undef __global__
#define __global__ __attribute__((noinline, flatten))
#define __managed__ __device__
#define __grid_constant__

// C++20 declares it in <cmath>, and programs declare their own.
#define lerp mini_lerp

// Objects, not macros: a program may have variables with these names.
#undef threadIdx
#undef blockIdx
#undef blockDim
#undef gridDim
// clang-format off
#define MINI_COORDINATE(name, which)                                             \
    inline constexpr struct name##_t {                                           \
        MINI_WORD operator dim3() const { return mini::sim::coordinates(which); } \
        MINI_WORD operator uint3() const {                                       \
            const dim3 value = mini::sim::coordinates(which);                    \
            return {value.x, value.y, value.z};                                  \
        }                                                                        \
    } name;                                                                      \
    namespace mini::cuda {                                                       \
    MINI_WORD uint3 at(name##_t coordinate) { return coordinate; }               \
    }
MINI_COORDINATE(threadIdx, 0)
MINI_COORDINATE(blockIdx, 1)
MINI_COORDINATE(blockDim, 2)
MINI_COORDINATE(gridDim, 3)
// clang-format on

namespace mini::cuda {

#ifdef MINI_ALL_CORES  // a program of mini cuda; programs of libmini choose it themselves
inline const int cores = static_cast<int>(std::thread::hardware_concurrency());
inline const bool uses_all_cores = (set_num_threads(::max(cores, 1)), true);
#endif

template <typename T>
MINI_WORD T& at(T& variable) {
    return variable;
}

/// Enqueues a launch whose threads run call(values...).
template <typename Call>
cudaError_t enqueue_call(const Config& config, const void* kernel, Call call,
                         auto... values) {
    if (sim::in_kernel()) return enqueue(config, kernel, nullptr, nullptr, 0);  // refuses
    return enqueue_body(config, kernel, [=]() MINI_UNCHECKED { call(values...); });
}

/// Launches a kernel that is one function. Its arguments become the parameters' types; with
/// fewer, `call` fills in the defaults.
template <typename Call, typename... Parameters>
struct FunctionLauncher {
    Call call;
    Config config;
    const void* function;

    void operator()(Parameters... values) const {
        enqueue_call(config, function, call, values...);
    }
    template <typename... Few>
    requires(sizeof...(Few) < sizeof...(Parameters)) void operator()(
        Few... values) const {
        enqueue_call(config, function, call, values...);
    }
};

/// Launches a kernel template whose arguments the call deduces, or an overloaded kernel. If the
/// arguments' types are not the parameters', an address stands for the kernel, which `text` names.
template <typename Name, typename Call>
struct TemplateLauncher {
    Call call;
    Config config;
    Name name;
    const char* text;

    template <typename... Arguments>
    void operator()(Arguments... values) const {
        const void* kernel = reinterpret_cast<const void*>(
            +[](Call* of, Arguments... each) { (*of)(each...); });
        const auto address = [](void (*function)(Arguments...)) {
            return reinterpret_cast<const void*>(function);
        };
        if constexpr (std::is_invocable_v<Name, decltype(address)>)
            kernel = name(address);
        else
            sim::function_at(kernel, text);
        enqueue_call(config, kernel, call, values...);
    }
};

/// mini_kernel(name, call, "k")(config)(arguments...) launches k: name(take) is take(k), and
/// call(arguments...) is k(arguments...). Not `kernel`: a macro's parameter may be called so.
template <typename Name, typename Call>
auto mini_kernel(Name name, Call call, const char* text) {
    return [=](Config config) {
        const auto take = [&]<typename... Parameters>(void (*function)(Parameters...)) {
            return FunctionLauncher<Call, Parameters...>{
                call, config, reinterpret_cast<const void*>(function)};
        };
        if constexpr (std::is_invocable_v<Name, decltype(take)>)
            return name(take);
        else
            return TemplateLauncher<Name, Call>{call, config, name, text};
    };
}

/// The dynamic shared memory of the running block, as an array of any type.
struct DynamicShared {
    template <typename T>
    MINI_WORD operator T&() const {
        return *reinterpret_cast<T*>(sim::dynamic_shared());
    }
};
MINI_WORD DynamicShared dynamic_shared() { return {}; }

/// Returns the variable in device memory that begins as `first`.
template <typename T>
T& device_variable(T& first) {
    const volatile void* const place = &first;
    return *static_cast<T*>(device_variable(const_cast<const void*>(place), sizeof(T)));
}

/// Launches a kernel with the values at the addresses in `from`.
template <bool cooperative, typename... P>
cudaError_t launch_kernel(void (*kernel)(P...), dim3 grid, dim3 block, void** from,
                          size_t shared = 0, cudaStream_t stream = nullptr) {
    const auto call = [kernel](auto... values) MINI_UNCHECKED { kernel(values...); };
    Config config{grid, block, shared, stream};
    config.cooperative = cooperative;
    return [&]<size_t... i>(std::index_sequence<i...>) {
        return enqueue_call(config, (const void*)kernel, call,
                            *static_cast<P*>(from[i])...);
    }
    (std::index_sequence_for<P...>());
}

}  // namespace mini::cuda

#define cudaLaunchKernel mini::cuda::launch_kernel<false>
#define cudaLaunchCooperativeKernel mini::cuda::launch_kernel<true>
