// ReduceOp: how a reduction combines the numbers of the ranks.

#pragma once

#include <cstdint>

namespace mini::dist {

/// The operation of a reduction (`torch.distributed.ReduceOp`). kAvg is the sum, divided
/// by the world size. 16-bit floats are divided in two steps: before the sum by a power
/// of two, so that the sum does not overflow (see prepare_reduce), and after the sum by
/// the remaining factor. NCCL multiplies each number by 1 / world size before the sum.
/// kMin and kMax give NaN on all ranks if any rank has NaN, as torch.maximum does; only
/// backend nccl may lose a NaN that not every rank has.
enum class ReduceOp : uint8_t { kSum, kAvg, kProduct, kMin, kMax };

/// Returns "sum", "avg", ...
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
