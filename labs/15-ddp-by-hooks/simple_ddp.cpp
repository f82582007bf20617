#include "labs/15-ddp-by-hooks/simple_ddp.hpp"

#include <utility>

#include "libmini/tensor/ops.hpp"

namespace simple {

using mini::Tensor;

DDP::DDP(mini::nn::Module& module, mini::dist::ProcessGroup& group)
    : module_(module), group_(group), parameters_(module) {
    register_module("module", module);
    // [lab15.6] Send rank 0's state to all ranks, and add a hook to each parameter.
    for (const Tensor& parameter : module.parameters()) group.broadcast(parameter, 0);
    for (const Tensor& buffer : module.buffers()) group.broadcast(buffer, 0);
    for (const Tensor& parameter : module.parameters()) {
        if (!parameter.requires_grad()) continue;
        const auto accumulator = mini::grad_accumulator(parameter);
        const int id =
            accumulator->add_hook([this](const Tensor& leaf) { gradient_ready(leaf); });
        hooks_.push_back({.accumulator = accumulator, .id = id});
    }
    // [lab15.6]
}

DDP::~DDP() {
    // [lab15.6] Remove the hooks.
    for (const Hook& hook : hooks_) hook.accumulator->remove_hook(hook.id);
    // [lab15.6]
}

void DDP::gradient_ready(const Tensor& parameter) {
    // [lab15.6] Start the all-reduce of this gradient; the first also queues the end.
    if (!sync_) return;
    if (in_flight_.empty()) mini::queue_callback([this] { finish(); });
    const Tensor& grad = parameter.grad();
    in_flight_.push_back({.grad = grad, .work = group_.all_reduce_async(grad)});
    // [lab15.6]
}

void DDP::finish() {
    // [lab15.6] Wait for each all-reduce, and multiply its sum by 1 / world size.
    const float share = 1.0f / static_cast<float>(group_.world_size());
    for (InFlight& each : in_flight_) {
        each.work->wait();
        mini::ops::mul_(each.grad, share);
    }
    in_flight_.clear();
    // [lab15.6]
}

DDP::NoSync DDP::no_sync() {
    // [lab15.6] Switch averaging off, and at the end restore its previous state.
    const bool previous = std::exchange(sync_, false);
    return NoSync([this, previous] { sync_ = previous; });
    // [lab15.6]
}

}  // namespace simple
