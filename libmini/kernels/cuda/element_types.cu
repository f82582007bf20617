// Conversions between element types, arrays filled with one value, and the arithmetic of
// all_reduce. A thread takes four adjacent elements, reads each once and writes each once.

#include "libmini/kernels/cuda/elements.hpp"

#include <cstdint>

#include "libmini/kernels/cuda/each.hpp"

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

struct Sum {
    template <typename T>
    __device__ T operator()(T a, T b) const {
        return static_cast<T>(a + b);
    }
};
struct Product {
    template <typename T>
    __device__ T operator()(T a, T b) const {
        return static_cast<T>(a * b);
    }
};
// Returns NaN if a or b is NaN, else `other`.
template <typename T>
__device__ T unless_nan(T a, T b, T other) {
    return a == a && b == b ? other : static_cast<T>(a + b);
}

struct Minimum {
    template <typename T>
    __device__ T operator()(T a, T b) const {
        return unless_nan(a, b, b < a ? b : a);
    }
};
struct Maximum {
    template <typename T>
    __device__ T operator()(T a, T b) const {
        return unless_nan(a, b, a < b ? b : a);
    }
};

template <typename T, typename Op>
struct Combine {
    Op op;
    __device__ T operator()(T a, T b) const {
        return convert_element<T>(
            op(static_cast<OpMath<T>>(a), static_cast<OpMath<T>>(b)));
    }
};

template <typename T>
struct Divide {
    OpMath<T> divisor;
    __device__ T operator()(T value) const {
        return convert_element<T>(static_cast<OpMath<T>>(value) / divisor);
    }
};

template <typename Op>
void combine_with(Op op, void* mine, const void* theirs, int64_t n, DType type,
                  cudaStream_t stream) {
    with_element(type, [&]<typename T>(T) {
        auto* const to = static_cast<T*>(mine);
        map(Combine<T, Op>{op}, to, n, stream, to, static_cast<const T*>(theirs));
    });
}

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

void combine(void* mine, const void* theirs, int64_t n, DType type, CombineOp op,
             cudaStream_t stream) {
    switch (op) {
        case CombineOp::kSum: return combine_with(Sum(), mine, theirs, n, type, stream);
        case CombineOp::kProduct:
            return combine_with(Product(), mine, theirs, n, type, stream);
        case CombineOp::kMin:
            return combine_with(Minimum(), mine, theirs, n, type, stream);
        case CombineOp::kMax:
            return combine_with(Maximum(), mine, theirs, n, type, stream);
    }
}

void divide(void* x, int divisor, int64_t n, DType type, cudaStream_t stream) {
    with_element(type, [&]<typename T>(T) {
        auto* const values = static_cast<T*>(x);
        map(Divide<T>{static_cast<OpMath<T>>(divisor)}, values, n, stream, values);
    });
}

}  // namespace mini::kernels::cuda
