// Conversions between element types, and arrays filled with one value. A thread takes four
// adjacent elements, reads each once and writes each once.

#include <cstdint>

#include "libmini/kernels/cuda/each.hpp"
#include "libmini/kernels/cuda/kernels.hpp"

namespace mini::kernels::cuda {
namespace {

template <typename To>
struct Convert {
    template <typename From>
    __device__ To operator()(From value) const {
        return convert_element<To>(value);
    }
};

template <typename T>
struct Constant {
    double value;
    __device__ T operator()() const { return convert_element<T>(value); }
};

}  // namespace

void convert(void* out, const void* x, int64_t n, DType to, DType from,
             cudaStream_t stream) {
    with_element(to, [&]<typename To>(To) {
        with_element(from, [&]<typename From>(From) {
            map(Convert<To>(), static_cast<To*>(out), n, stream,
                static_cast<const From*>(x));
        });
    });
}

void fill_elements(void* out, double value, int64_t n, DType type, cudaStream_t stream) {
    with_element(type, [&]<typename T>(T) {
        map(Constant<T>{value}, static_cast<T*>(out), n, stream);
    });
}

void increment(int64_t* x, int64_t n, cudaStream_t stream) {
    map([] __device__(int64_t value) { return value + 1; }, x, n, stream, x);
}

}  // namespace mini::kernels::cuda
