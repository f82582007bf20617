#include "libmini/parallel/replicated_module.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "libmini/autograd/node.hpp"
#include "libmini/distributed/group/current_group.hpp"
#include "libmini/parallel/broadcast_coalesced.hpp"
#include "libmini/parallel/same_parameters.hpp"

namespace mini::parallel {
namespace {

nn::NamedTensors trainable_parameters(const nn::Module& module) {
    nn::NamedTensors parameters = module.named_parameters();
    std::erase_if(parameters,
                  [](const auto& entry) { return !entry.second.requires_grad(); });
    if (parameters.empty())
        throw UsageError(
            "DistributedDataParallel: no parameter of the module requires grad");
    return parameters;
}

}  // namespace

ReplicatedModule::ReplicatedModule(nn::Module& module,
                                   std::shared_ptr<dist::ProcessGroup> group,
                                   bool broadcast_buffers)
    : module_(module),
      group_(group ? std::move(group) : dist::default_group()),
      trained_(trainable_parameters(module)),
      sends_buffers_(broadcast_buffers && !module.buffers().empty()) {
    register_module("module", module);
    check_same_parameters(*group_,
                          {.who = "DistributedDataParallel",
                           .what = "parameters that require grad",
                           .remedy = "every rank must build the same module"},
                          trained_);
    broadcast_coalesced(*group_, state(), 0);
}

ReplicatedModule::NoSync ReplicatedModule::no_sync() {
    // [lab15.5] Switch averaging off, and at the end restore its previous state.
    const bool previous = std::exchange(sync_, false);
    return NoSync([this, previous] { sync_ = previous; });
    // [lab15.5]
}

Tensor ReplicatedModule::forward(const Tensor& x) {
    if (!is_grad_enabled()) return run_module(x);
    // [lab15.2] Broadcast due buffers, run the module, and prepare the backward pass.
    const bool sends_buffers = sends_buffers_ && are_buffers_due_;
    are_buffers_due_ = sync_;
    const int root = begin_iteration(sends_buffers, sync_);
    if (sends_buffers) broadcast_buffers(root);
    if (sync_) prepare_for_forward();
    Tensor output = run_module(x);
    if (sync_) prepare_for_backward(output);
    return output;
    // [lab15.2]
}

Tensor ReplicatedModule::run_module(const Tensor& x) {
    if (!is_grad_enabled()) return module_(x);
    group_->events().record(EventKind::kForwardBegin);
    Tensor output = module_(x);
    group_->events().record(EventKind::kForwardEnd);
    return output;
}

void ReplicatedModule::broadcast_buffers(int root) {
    broadcast_coalesced(*group_, module_.buffers(), root);
}

std::vector<Tensor> ReplicatedModule::state() const {
    std::vector<Tensor> state = module_.parameters();
    std::ranges::copy(module_.buffers(), std::back_inserter(state));
    return state;
}

}  // namespace mini::parallel
