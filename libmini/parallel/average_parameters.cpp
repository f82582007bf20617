#include "libmini/parallel/average_parameters.hpp"

#include <vector>

// [lab14 file]
namespace mini::parallel {
namespace {

bool is_integer(DType dtype) { return !is_floating_point(dtype); }

}  // namespace

void average_parameters(const nn::Module& module, dist::ProcessGroup& group) {
    // [lab14.5] Average each tensor that can be averaged once, all in flight together.
    std::vector<dist::WorkHandle> under_way;
    for (const Tensor& parameter : module.parameters())
        under_way.push_back(group.all_reduce_async(parameter, dist::ReduceOp::kAvg));
    for (const Tensor& buffer : module.buffers())
        under_way.push_back(is_integer(buffer.dtype())
                                ? group.broadcast_async(buffer, 0)
                                : group.all_reduce_async(buffer, dist::ReduceOp::kAvg));
    for (const dist::WorkHandle& work : under_way) work->wait();
    // [lab14.5]
}

}  // namespace mini::parallel
// [lab14 file]
