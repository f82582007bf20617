#include "libmini/dist/algorithms/reduce.hpp"

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace mini::dist {
namespace {

// The type in which two elements of type T are combined.
template <typename T>
using Wide =
    std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

struct Add {
    template <typename T>
    static T of(T a, T b) {
        return static_cast<T>(a + b);
    }
};
struct Multiply {
    template <typename T>
    static T of(T a, T b) {
        return static_cast<T>(a * b);
    }
};
struct Minimum {
    template <typename T>
    static T of(T a, T b) {
        return b < a ? b : a;
    }
};
struct Maximum {
    template <typename T>
    static T of(T a, T b) {
        return a < b ? b : a;
    }
};

// One plain loop for each type and operation: compilers vectorise it. What comes in may
// lie anywhere, so it is loaded byte by byte as far as the language is concerned.
template <typename T, typename Operation>
void combine_all(std::byte* mine, const std::byte* theirs, size_t count) {
    T* __restrict a = reinterpret_cast<T*>(mine);
    const std::byte* __restrict b = theirs;
    for (size_t i = 0; i < count; ++i) {
        T other;
        std::memcpy(&other, b + i * sizeof(T), sizeof(T));
        a[i] = static_cast<T>(
            Operation::of(static_cast<Wide<T>>(a[i]), static_cast<Wide<T>>(other)));
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
void divide_all(Elements data, int divisor) {
    T* const values = reinterpret_cast<T*>(data.bytes.data());
    for (size_t i = 0; i < data.size(); ++i)
        values[i] = static_cast<T>(static_cast<Wide<T>>(values[i]) /
                                   static_cast<Wide<T>>(divisor));
}

}  // namespace

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
    switch (data.dtype) {
        case DType::kFloat32: return divide_all<float>(data, world_size);
        case DType::kInt64: return divide_all<int64_t>(data, world_size);
        case DType::kUInt8: return divide_all<uint8_t>(data, world_size);
        case DType::kFloat16: return divide_all<Half>(data, world_size);
        case DType::kBFloat16: return divide_all<BFloat16>(data, world_size);
    }
}

}  // namespace mini::dist
