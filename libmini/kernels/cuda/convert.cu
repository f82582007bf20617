// Conversions between element types, and arrays filled with one value. A thread takes
// four adjacent elements, reads each once and writes each once.

#include "libmini/kernels/cuda/each.hpp"
#include "libmini/kernels/cuda/element_types.hpp"

namespace mini::kernels::cuda {
namespace {

template <typename To>
struct Convert {
    template <typename From>
    __device__ To operator()(From value) const {
        return narrow<To>(widen(value));
    }
};

template <typename T>
struct Constant {
    double value;
    __device__ T operator()() const { return narrow<T>(value); }
};

}  // namespace

void convert(void* out, const void* x, int64_t n, ElementType to, ElementType from,
             cudaStream_t stream) {
    with_type(to, [&]<typename To>(To) {
        with_type(from, [&]<typename From>(From) {
            map(Convert<To>(), static_cast<To*>(out), n, stream,
                static_cast<const From*>(x));
        });
    });
}

void fill_elements(void* out, double value, int64_t n, ElementType type,
                   cudaStream_t stream) {
    with_type(type, [&]<typename T>(T) {
        map(Constant<T>{value}, static_cast<T*>(out), n, stream);
    });
}

}  // namespace mini::kernels::cuda
