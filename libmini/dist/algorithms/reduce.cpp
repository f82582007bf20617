#include "libmini/dist/algorithms/reduce.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace mini::dist {
namespace {

// One plain loop an operation, on pointers that do not overlap: compilers vectorise it.
template <typename T, typename Combine>
void combine_all(std::span<T> mine, std::span<const T> theirs, Combine combine) {
    T* __restrict a = mine.data();
    const T* __restrict b = theirs.data();
    for (size_t i = 0; i < mine.size(); ++i) a[i] = static_cast<T>(combine(a[i], b[i]));
}

}  // namespace

template <typename T>
void reduce_into(std::span<T> mine, std::span<const T> theirs, ReduceOp op) {
    switch (op) {
        case ReduceOp::kSum:
        case ReduceOp::kAvg:
            return combine_all(mine, theirs, [](T a, T b) { return a + b; });
        case ReduceOp::kProduct:
            return combine_all(mine, theirs, [](T a, T b) { return a * b; });
        case ReduceOp::kMin:
            return combine_all(mine, theirs, [](T a, T b) { return b < a ? b : a; });
        case ReduceOp::kMax:
            return combine_all(mine, theirs, [](T a, T b) { return a < b ? b : a; });
    }
}

template <typename T>
void finish_reduce(std::span<T> data, int world_size, ReduceOp op) {
    if (op != ReduceOp::kAvg) return;
    const T divisor = static_cast<T>(world_size);
    for (T& value : data) value = static_cast<T>(value / divisor);
}

template void reduce_into(std::span<float>, std::span<const float>, ReduceOp);
template void reduce_into(std::span<int64_t>, std::span<const int64_t>, ReduceOp);
template void reduce_into(std::span<uint8_t>, std::span<const uint8_t>, ReduceOp);
template void finish_reduce(std::span<float>, int, ReduceOp);
template void finish_reduce(std::span<int64_t>, int, ReduceOp);
template void finish_reduce(std::span<uint8_t>, int, ReduceOp);

}  // namespace mini::dist
