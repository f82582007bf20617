// The arithmetic of all_reduce: mine = mine op theirs, 16 bytes per access, with two
// reads and one write per element.

#include <algorithm>
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

template <typename T>
constexpr int kElementsAtOnce = std::max<int>(4, 16 / sizeof(T));

template <typename T, typename Op>
struct Combine {
    static constexpr int kWidth = kElementsAtOnce<T>;
    T* mine;
    const T* theirs;
    Op op;

    template <int kWidth>
    __device__ void run(int64_t i) const {
        auto values = load<kWidth>(mine + i);
        const auto others = load<kWidth>(theirs + i);
        for (int k = 0; k < kWidth; ++k)
            values.at[k] = narrow<T>(op(widen(values.at[k]), widen(others.at[k])));
        store(mine + i, values);
    }
};

template <typename T>
struct Divide {
    static constexpr int kWidth = kElementsAtOnce<T>;
    T* x;
    Wide<T> divisor;

    template <int kWidth>
    __device__ void run(int64_t i) const {
        auto values = load<kWidth>(x + i);
        for (int k = 0; k < kWidth; ++k)
            values.at[k] = narrow<T>(widen(values.at[k]) / divisor);
        store(x + i, values);
    }
};

template <typename Op>
void combine_with(Op op, void* mine, const void* theirs, int64_t n, ElementType type,
                  cudaStream_t stream) {
    with_type(type, [&]<typename T>(T) {
        auto* const to = static_cast<T*>(mine);
        const auto* const from = static_cast<const T*>(theirs);
        each(Combine<T, Op>{to, from, op}, n, aligned<kElementsAtOnce<T>>(to, from),
             stream);
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
        each(Divide<T>{values, static_cast<Wide<T>>(divisor)}, n,
             aligned<kElementsAtOnce<T>>(values), stream);
    });
}

}  // namespace mini::kernels::cuda
