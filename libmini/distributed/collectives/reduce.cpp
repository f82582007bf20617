#include "libmini/distributed/collectives/reduce.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace mini::dist {
namespace {

// The type in which two elements of type T are combined.
template <typename T>
using OpMath =
    std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

// The type in which two elements of type T are added and multiplied: unsigned for int64,
// because the overflow of a signed type is undefined.
template <typename T>
using Wrapping = std::conditional_t<std::is_same_v<T, int64_t>, uint64_t, T>;

// Returns NaN if a or b is NaN, always with the same bits, else `other`.
template <typename T>
T unless_nan(T a, T b, T other) {
    if constexpr (std::is_floating_point_v<T>)
        return a == a && b == b ? other : std::numeric_limits<T>::quiet_NaN();
    return other;
}

struct Add {
    template <typename T>
    static T of(T a, T b) {
        return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
    }
};
struct Multiply {
    template <typename T>
    static T of(T a, T b) {
        return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
    }
};
struct Minimum {
    template <typename T>
    static T of(T a, T b) {
        return unless_nan(a, b, b < a ? b : a);
    }
};
struct Maximum {
    template <typename T>
    static T of(T a, T b) {
        return unless_nan(a, b, a < b ? b : a);
    }
};

// Combines `count` elements. Compilers vectorise this loop for each type and operation.
// `theirs` may be unaligned, so memcpy loads its elements.
template <typename T, typename Operation>
void combine_all(std::byte* mine, const std::byte* theirs, size_t count) {
    T* __restrict a = reinterpret_cast<T*>(mine);
    const std::byte* __restrict b = theirs;
    for (size_t i = 0; i < count; ++i) {
        T other;
        std::memcpy(&other, b + i * sizeof(T), sizeof(T));
        a[i] = static_cast<T>(
            Operation::of(static_cast<OpMath<T>>(a[i]), static_cast<OpMath<T>>(other)));
    }
}

template <typename T>
Combine combine_of(ReduceOp op) {
    switch (op) {
        case ReduceOp::kSum:
        case ReduceOp::kAvg: return {&combine_all<T, Add>, sizeof(T)};
        case ReduceOp::kProduct: return {&combine_all<T, Multiply>, sizeof(T)};
        case ReduceOp::kMin: return {&combine_all<T, Minimum>, sizeof(T)};
        case ReduceOp::kMax: return {&combine_all<T, Maximum>, sizeof(T)};
    }
    return {};
}

template <typename T>
void divide_all(Elements data, OpMath<T> divisor) {
    T* const values = reinterpret_cast<T*>(data.bytes.data());
    for (size_t i = 0; i < data.size(); ++i)
        values[i] = static_cast<T>(static_cast<OpMath<T>>(values[i]) / divisor);
}

// Returns the divisor of prepare_reduce for 16-bit floats: a power of two, so the
// division is exact.
float first_divisor(int world_size) {
    return static_cast<float>(std::bit_ceil(static_cast<unsigned>(world_size)));
}

}  // namespace

void prepare_reduce(Elements data, int world_size, ReduceOp op) {
    if (op != ReduceOp::kAvg) return;
    const float divisor = first_divisor(world_size);
    if (data.dtype == DType::kFloat16) divide_all<Half>(data, divisor);
    if (data.dtype == DType::kBFloat16) divide_all<BFloat16>(data, divisor);
}

Combine combine_for(DType dtype, ReduceOp op) {
    switch (dtype) {
        case DType::kFloat32: return combine_of<float>(op);
        case DType::kInt64: return combine_of<int64_t>(op);
        case DType::kUInt8: return combine_of<uint8_t>(op);
        case DType::kFloat16: return combine_of<Half>(op);
        case DType::kBFloat16: return combine_of<BFloat16>(op);
    }
    return {};
}

void finish_reduce(Elements data, int world_size, ReduceOp op) {
    if (op != ReduceOp::kAvg) return;
    const auto divisor = static_cast<float>(world_size);
    const float rest = divisor / first_divisor(world_size);
    switch (data.dtype) {
        case DType::kFloat32: return divide_all<float>(data, divisor);
        case DType::kFloat16: return divide_all<Half>(data, rest);
        case DType::kBFloat16: return divide_all<BFloat16>(data, rest);
        case DType::kInt64:
        case DType::kUInt8: break;  // collective_of rejects kAvg of integers
    }
}

}  // namespace mini::dist
