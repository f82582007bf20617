// How all_reduce combines the numbers of the ranks.

#pragma once

#include <cstdint>

namespace mini::dist {

/// kAvg is the sum divided once by the world size (`torch.distributed.ReduceOp`). For
/// 16-bit floats each number is first divided by a power of two, so that the sum does not
/// overflow, see prepare_reduce; NCCL multiplies each by 1 / world size first.
enum class ReduceOp : uint8_t { kSum, kAvg, kProduct, kMin, kMax };

/// "sum", "avg", ...
constexpr const char* reduce_op_name(ReduceOp op) {
    switch (op) {
        case ReduceOp::kSum: return "sum";
        case ReduceOp::kAvg: return "avg";
        case ReduceOp::kProduct: return "product";
        case ReduceOp::kMin: return "min";
        case ReduceOp::kMax: return "max";
    }
    return "unknown";
}

}  // namespace mini::dist
