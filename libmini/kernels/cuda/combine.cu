// The arithmetic of all_reduce: mine = mine op theirs, with two reads and one write per
// element.

#include <cstdint>

#include "libmini/kernels/cuda/each.hpp"
#include "libmini/kernels/cuda/element_types.hpp"

namespace mini::kernels::cuda {
namespace {

struct Add {
    template <typename T>
    __device__ T operator()(T a, T b) const {
        return static_cast<T>(a + b);
    }
};
struct Multiply {
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
    __device__ T operator()(T a, T b) const { return narrow<T>(op(widen(a), widen(b))); }
};

template <typename T>
struct Divide {
    Wide<T> divisor;
    __device__ T operator()(T value) const { return narrow<T>(widen(value) / divisor); }
};

template <typename Op>
void combine_with(Op op, void* mine, const void* theirs, int64_t n, ElementType type,
                  cudaStream_t stream) {
    with_type(type, [&]<typename T>(T) {
        auto* const to = static_cast<T*>(mine);
        map(Combine<T, Op>{op}, to, n, stream, to, static_cast<const T*>(theirs));
    });
}

}  // namespace

void combine(void* mine, const void* theirs, int64_t n, ElementType type, CombineOp op,
             cudaStream_t stream) {
    switch (op) {
        case CombineOp::kSum: return combine_with(Add(), mine, theirs, n, type, stream);
        case CombineOp::kProduct:
            return combine_with(Multiply(), mine, theirs, n, type, stream);
        case CombineOp::kMin:
            return combine_with(Minimum(), mine, theirs, n, type, stream);
        case CombineOp::kMax:
            return combine_with(Maximum(), mine, theirs, n, type, stream);
    }
}

void divide(void* x, int divisor, int64_t n, ElementType type, cudaStream_t stream) {
    with_type(type, [&]<typename T>(T) {
        auto* const values = static_cast<T*>(x);
        map(Divide<T>{static_cast<Wide<T>>(divisor)}, values, n, stream, values);
    });
}

}  // namespace mini::kernels::cuda
