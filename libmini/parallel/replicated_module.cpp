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

// Returns what the ranks share, but do not train: frozen parameters, and buffers.
nn::NamedTensors untrained(const nn::Module& module) {
    nn::NamedTensors tensors = module.named_parameters();
    std::erase_if(tensors,
                  [](const auto& entry) { return entry.second.requires_grad(); });
    std::ranges::copy(module.named_buffers(), std::back_inserter(tensors));
    return tensors;
}

}  // namespace

ReplicatedModule::ReplicatedModule(nn::Module& module,
                                   std::shared_ptr<dist::ProcessGroup> group,
                                   bool broadcast_buffers)
    : module_(module),
      group_(group ? std::move(group) : dist::default_group()),
      parameters_(module),
      self_(std::make_shared<ReplicatedModule*>(this)),
      sends_buffers_(broadcast_buffers && !module.buffers().empty()) {
    register_module("module", module);
    SameParameters texts{.who = "DistributedDataParallel",
                         .what = "parameters that require grad",
                         .remedy = "every rank must build the same module"};
    check_same_parameters(*group_, texts, trained());
    texts.what = "frozen parameters and buffers";
    check_same_parameters(*group_, texts, untrained(module));
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
    parameters_.check_unchanged(group_->rank());
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
    return sync_ ? checked_in_backward(output) : output;
}

Tensor ReplicatedModule::checked_in_backward(const Tensor& output) {
    return record(
        "averages", output, {output},
        [self = std::weak_ptr(self_)](const Tensor& grad, const Node&) -> Grads {
            const auto wrapper = self.lock();
            MINI_CHECK(wrapper == nullptr || (*wrapper)->averages_next(),
                       "DistributedDataParallel: this backward pass would not average "
                       "the gradients, because another backward pass has done so since "
                       "forward(); call forward() again, or call it within no_sync to "
                       "accumulate gradients");
            return {grad};
        });
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
