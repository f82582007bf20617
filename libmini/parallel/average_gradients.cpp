#include "libmini/parallel/average_gradients.hpp"

#include "libmini/tensor/ops.hpp"

namespace mini::parallel {

void average_gradients(const std::vector<Tensor>& parameters, dist::ProcessGroup& group) {
    const float share = 1.0f / static_cast<float>(group.world_size());
    for (size_t i = 0; i < parameters.size(); ++i) {
        Tensor grad = parameters[i].grad();
        MINI_CHECK(grad.defined(), "average_gradients: parameter ", i, " of shape ",
                   parameters[i].shape(), " has no gradient on rank ", group.rank(),
                   "; every rank must compute all of them");
        group.all_reduce(grad, dist::ReduceOp::kSum);
        ops::mul_(grad, share);
    }
}

}  // namespace mini::parallel
