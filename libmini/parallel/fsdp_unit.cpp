#include "libmini/parallel/fsdp_unit.hpp"

#include <utility>

#include "libmini/parallel/broadcast_coalesced.hpp"
#include "libmini/tensor/ops.hpp"

// [lab21 file]
namespace mini::parallel {

int64_t shard_numel(int64_t numel, int ranks) { return (numel + ranks - 1) / ranks; }

void Unit::shard_parameters() {
    // [lab21.1] Move the parameters to a flat tensor, and keep this rank's part of it.
    std::vector<Tensor> tensors;
    for (const auto& [of, parameter] : parameters) {
        tensors.push_back(parameter);
        numel += parameter.numel();
    }
    const int ranks = group->world_size();
    flat = tensors[0].new_zeros({ranks * shard_numel(numel, ranks)});
    views = views_of(flat, tensors);
    for (size_t k = 0; k < tensors.size(); ++k) {
        ops::copy_(views[k], tensors[k].detach());
        tensors[k].set_data(views[k]);
        tensors[k].set_grad({});
    }
    group->broadcast(flat, 0);
    shard = ops::clone(own_part(flat)).set_requires_grad();
    flat.free_storage();
    // [lab21.1]
}

Tensor Unit::own_part(const Tensor& tensor) const {
    const int64_t size = tensor.numel() / group->world_size();
    return ops::narrow(tensor, 0, group->rank() * size, size);
}

void Unit::start_gather() {
    // [lab21.2] Allocate, and start the all-gather of the shards.
    if (!flat.is_freed()) return;
    record(EventKind::kGatherLaunch);
    flat.allocate_storage();
    gather = group->all_gather_into_tensor_async(flat, shard.detach());
    flat.set_version(shard.version());
    // [lab21.2]
}

void Unit::finish_gather() {
    // [lab21.2] Wait for the gather, which may have to be started.
    start_gather();
    if (!gather) return;
    std::exchange(gather, nullptr)->wait();
    record(EventKind::kGatherDone);
    // [lab21.2]
}

void Unit::free() {
    // [lab21.2] Free the memory, when no gather writes to it.
    if (flat.is_freed()) return;
    finish_gather();
    flat.free_storage();
    record(EventKind::kUnitFree);
    // [lab21.2]
}

void Unit::expect_gradients() {
    if (!missing.empty()) return;
    for (size_t k = 0; k < views.size(); ++k) missing.insert(k);
    gradient = shard.new_zeros(flat.shape());
    gradients = views_of(gradient, views);
}

void Unit::take_gradient(size_t k, const Tensor& value) {
    // [lab21.3] Copy this rank's summand of the average.
    ops::copy_(gradients[k], value);
    ops::mul_(gradients[k], 1.0f / static_cast<float>(group->world_size()));
    missing.erase(k);
    // [lab21.3]
}

void Unit::start_reduction() {
    // [lab21.3] Record and start the reduce-scatter.
    record(EventKind::kReduceLaunch);
    reduction = group->reduce_scatter_tensor_async(own_part(gradient), gradient);
    // [lab21.3]
}

void Unit::finish_reduction() {
    // [lab21.3] Wait, add this rank's part to the shard's gradient, and free the rest.
    if (!reduction) return;
    std::exchange(reduction, nullptr)->wait();
    record(EventKind::kReduceDone);
    Tensor total = shard.grad();
    if (total.defined())
        ops::add_(total, own_part(gradient));
    else
        shard.set_grad(ops::clone(own_part(gradient)));
    drop_gradients();
    // [lab21.3]
}

void Unit::drop_gradients() {
    // [lab21.3] Forget the gradients, and the reduction that may be in flight.
    for (auto& [of, parameter] : parameters) parameter.set_grad({});
    missing.clear();
    reduction = nullptr;
    gradients.clear();
    gradient = {};
    // [lab21.3]
}

}  // namespace mini::parallel
// [lab21 file]
