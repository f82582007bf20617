#include "libmini/parallel/average_gradients.hpp"

#include <cstdint>

#include "libmini/tensor/ops.hpp"

// [lab14 file]
namespace mini::parallel {
namespace {

Tensor gradient_of(const std::vector<Tensor>& parameters, size_t i, int rank) {
    const Tensor grad = parameters[i].grad();
    MINI_CHECK(grad.defined(), "average_gradients: parameter ", i, " of shape ",
               parameters[i].shape(), " has no gradient on rank ", rank,
               "; every rank must compute all gradients");
    return grad;
}

// Returns a view of the elements of `flat` from `offset` on, in the shape of `like`;
// increases `offset` by the number of these elements.
Tensor next_part(const Tensor& flat, int64_t& offset, const Tensor& like) {
    const Tensor part = ops::narrow(flat, 0, offset, like.numel());
    offset += like.numel();
    return ops::view(part, like.shape());
}

}  // namespace

void average_gradients(const std::vector<Tensor>& parameters, dist::ProcessGroup& group) {
    const float share = 1.0f / static_cast<float>(group.world_size());
    // [lab14.1] Replace each gradient by the mean over the ranks, one all-reduce each.
    for (size_t i = 0; i < parameters.size(); ++i) {
        Tensor grad = gradient_of(parameters, i, group.rank());
        group.all_reduce(grad, dist::ReduceOp::kSum);
        ops::mul_(grad, share);
    }
    // [lab14.1]
}

void average_flat_gradients(const std::vector<Tensor>& parameters,
                            dist::ProcessGroup& group) {
    if (parameters.empty()) return;
    int64_t numel = 0;
    for (const Tensor& parameter : parameters) numel += parameter.numel();

    // [lab14.2] Copy all gradients into one flat tensor, average it, and copy them back.
    Tensor flat = parameters.front().new_empty({numel});
    int64_t offset = 0;
    for (size_t i = 0; i < parameters.size(); ++i) {
        const Tensor grad = gradient_of(parameters, i, group.rank());
        Tensor part = next_part(flat, offset, grad);
        ops::copy_(part, grad);
    }
    group.all_reduce(flat, dist::ReduceOp::kSum);
    ops::mul_(flat, 1.0f / static_cast<float>(group.world_size()));
    offset = 0;
    for (const Tensor& parameter : parameters) {
        Tensor grad = parameter.grad();
        ops::copy_(grad, next_part(flat, offset, grad));
    }
    // [lab14.2]
}

}  // namespace mini::parallel
// [lab14 file]
