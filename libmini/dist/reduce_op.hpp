// How all_reduce combines the numbers of the ranks.

#pragma once

#include <cstdint>

namespace mini::dist {

/// kAvg is the sum divided once by the world size (`torch.distributed.ReduceOp`).
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
