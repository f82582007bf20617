#include "tests/distributed/suite/values.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "libmini/core/error.hpp"
#include "libmini/core/half.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::dist::suite {
namespace {

constexpr int64_t kPeriod = 1021;
constexpr std::byte kUntouched{0xa5};

template <typename T>
void put(std::byte* to, T value) {
    std::memcpy(to, &value, sizeof value);
}

void encode(DType dtype, double value, std::byte* to) {
    switch (dtype) {
        case DType::kFloat32: return put(to, static_cast<float>(value));
        case DType::kInt64: return put(to, static_cast<int64_t>(value));
        case DType::kUInt8:
            return put(to, static_cast<uint8_t>(static_cast<int64_t>(value)));
        case DType::kFloat16: return put(to, Half(static_cast<float>(value)));
        case DType::kBFloat16: return put(to, BFloat16(static_cast<float>(value)));
    }
}

// Returns 1 or 2 for a product, 0 to 9 otherwise. A product of 7 such numbers is at most
// 2^7 and a sum at most 63: both are exact even in bfloat16.
int64_t small_number(ReduceOp op, int rank, int block, int64_t i) {
    const int64_t mix = (i + 1) * (rank + 2) + 13 * block + 5 * rank + i / 7;
    return op == ReduceOp::kProduct ? 1 + mix % 2 : mix % 10;
}

double reduced(ReduceOp op, int world_size, int block, int64_t i) {
    int64_t result = small_number(op, 0, block, i);
    for (int rank = 1; rank < world_size; ++rank) {
        const int64_t other = small_number(op, rank, block, i);
        if (op == ReduceOp::kSum || op == ReduceOp::kAvg) result += other;
        if (op == ReduceOp::kProduct) result *= other;
        if (op == ReduceOp::kMin) result = std::min(result, other);
        if (op == ReduceOp::kMax) result = std::max(result, other);
    }
    // kAvg divides once, and both operands are exact.
    if (op == ReduceOp::kAvg)
        return static_cast<float>(result) / static_cast<float>(world_size);
    return static_cast<double>(result);
}

Shape shape_of(int64_t n, Layout layout) {
    if (layout != Layout::kTransposed) return {n};
    return n % 2 == 0 ? Shape{n / 2, 2} : Shape{n, 1};
}

Tensor view_of(const Tensor& memory, int64_t n, Layout layout) {
    const Shape shape = shape_of(n, layout);
    switch (layout) {
        case Layout::kDense: return memory.as_strided(shape, {1}, 0);
        case Layout::kEveryOther: return memory.as_strided(shape, {2}, 1);
        case Layout::kTransposed: return memory.as_strided(shape, {2, 2 * shape[0]}, 0);
    }
    return {};
}

}  // namespace

Bytes repeat(DType dtype, int64_t n, const std::function<double(int64_t)>& value) {
    const size_t each = item_size(dtype);
    Bytes bytes(static_cast<size_t>(n) * each);
    const int64_t first = std::min(n, kPeriod);
    for (int64_t i = 0; i < first; ++i)
        encode(dtype, value(i), bytes.data() + static_cast<size_t>(i) * each);
    const size_t period = static_cast<size_t>(first) * each;
    for (size_t offset = period; offset < bytes.size(); offset += period)
        std::memcpy(bytes.data() + offset, bytes.data(),
                    std::min(period, bytes.size() - offset));
    return bytes;
}

Bytes share(DType dtype, int64_t n, ReduceOp op, int rank, int block) {
    return repeat(dtype, n, [&](int64_t i) {
        return static_cast<double>(small_number(op, rank, block, i));
    });
}

Bytes reduction(DType dtype, int64_t n, ReduceOp op, int world_size, int block) {
    return repeat(dtype, n, [&](int64_t i) { return reduced(op, world_size, block, i); });
}

Bytes difficult(DType dtype, int64_t n, int rank) {
    using Limits = std::numeric_limits<float>;
    return repeat(dtype, n, [&](int64_t i) -> double {
        switch ((i + rank) % 11) {
            case 0: return rank % 2 ? -Limits::quiet_NaN() : Limits::quiet_NaN();
            case 1: return -0.0;
            case 2: return rank % 2 ? -Limits::infinity() : Limits::infinity();
            case 3: return 1e8 * (rank % 2 ? -1 : 1);
            case 4:
                return std::bit_cast<float>(0x7fc12345u + static_cast<uint32_t>(rank));
            default: return 1.0 / static_cast<double>(3 + 17 * rank + i);
        }
    });
}

const char* layout_name(Layout layout) {
    switch (layout) {
        case Layout::kDense: return "dense";
        case Layout::kEveryOther: return "every-other";
        case Layout::kTransposed: return "transposed";
    }
    return "?";
}

GuardedTensor::GuardedTensor(DType dtype, const Bytes& bytes, Layout layout)
    : layout_(layout) {
    const auto n = static_cast<int64_t>(bytes.size() / item_size(dtype));
    memory_ = Tensor::empty({(layout == Layout::kDense ? n : 2 * n) + 4}, dtype);
    tensor_ = view_of(memory_, n, layout);
    const size_t dense_bytes = layout == Layout::kDense ? bytes.size() : 0;
    std::memset(memory_.raw_data() + dense_bytes, static_cast<int>(kUntouched),
                memory_.bytes() - dense_bytes);
    const Tensor dense =
        layout == Layout::kDense ? tensor_ : Tensor::empty(tensor_.shape(), dtype);
    if (n > 0) std::memcpy(dense.raw_data(), bytes.data(), bytes.size());
    if (layout != Layout::kDense) ops::copy_(tensor_, dense);
}

Bytes GuardedTensor::bytes() const {
    const Tensor dense = ops::contiguous(tensor_);
    const Bytes bytes(dense.raw_data(), dense.raw_data() + dense.bytes());

    // Compare with the same elements in new memory: the bytes around the elements must be
    // equal too. Those of a dense tensor, which may be large, come after it.
    const bool is_dense = layout_ == Layout::kDense;
    const GuardedTensor fresh(tensor_.dtype(), is_dense ? Bytes() : bytes, layout_);
    const std::byte* const around = memory_.raw_data() + (is_dense ? bytes.size() : 0);
    MINI_CHECK(std::memcmp(fresh.memory_.raw_data(), around, fresh.memory_.bytes()) == 0,
               "memory around the elements was written");
    return bytes;
}

std::vector<Tensor> tensors_of(const std::vector<GuardedTensor>& all) {
    std::vector<Tensor> tensors;
    for (const GuardedTensor& guarded : all) tensors.push_back(guarded.tensor());
    return tensors;
}

void check_equal(const Bytes& actual, const Bytes& expected, DType dtype,
                 const std::string& what) {
    MINI_CHECK(actual.size() == expected.size(), what, " has ", actual.size(),
               " bytes, not ", expected.size());
    if (actual.empty()) return;  // memcmp needs valid pointers
    if (std::memcmp(actual.data(), expected.data(), actual.size()) == 0) return;
    const auto different = std::ranges::mismatch(actual, expected).in1 - actual.begin();
    throw Error(concat(what, " is wrong from element ",
                       static_cast<size_t>(different) / item_size(dtype), " of ",
                       actual.size() / item_size(dtype), " on"));
}

}  // namespace mini::dist::suite
