#include "libmini/parallel/averaging_modules.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "libmini/autograd/engine.hpp"
#include "libmini/parallel/average_gradients.hpp"
#include "libmini/tensor/ops.hpp"

// [lab15 file]
namespace mini::parallel {

GradientListener::GradientListener(nn::Module& module,
                                   std::shared_ptr<dist::ProcessGroup> group)
    : ReplicatedModule(module, std::move(group), /*broadcast_buffers=*/true) {
    // [lab15.3] Add one hook to each trained parameter, and keep the hooks' ids.
    for (size_t index = 0; index < trained().size(); ++index) {
        const Tensor& parameter = trained()[index].second;
        hooks_.push_back(grad_accumulator(parameter)->add_hook(
            [this, index](const Tensor&) { gradient_ready(index); }));
    }
    // [lab15.3]
}

GradientListener::~GradientListener() {
    for (size_t index = 0; index < hooks_.size(); ++index)
        accumulator(index).remove_hook(hooks_[index]);
}

void GradientListener::prepare_for_backward(const Tensor&) {
    averages_ = true;
    has_gradient_ = false;
}

void GradientListener::gradient_ready(size_t index) {
    // [lab15.3] At a pass's first gradient queue its end; report every gradient.
    if (!averages_) return;
    if (!has_gradient_) queue_callback([this] { end_backward(); });
    has_gradient_ = true;
    on_gradient(index);
    // [lab15.3]
}

void GradientListener::end_backward() {
    averages_ = has_gradient_ = false;  // even if an error follows
    group().events().record(EventKind::kBackwardEnd);
    for (const auto& [name, parameter] : trained())
        MINI_CHECK(parameter.grad().defined(), "averaging: parameter ", name,
                   " has no gradient on rank ", group().rank(),
                   "; every parameter must take part in the loss, and stay unfrozen");
    on_end();
}

std::vector<Tensor> GradientListener::trained_tensors() const {
    std::vector<Tensor> tensors;
    for (const auto& [name, parameter] : trained()) tensors.push_back(parameter);
    return tensors;
}

void AveragedModule::on_end() { average_gradients(trained_tensors(), group()); }

void FlatModule::on_end() { average_flat_gradients(trained_tensors(), group()); }

void OverlappedModule::on_gradient(size_t index) {
    // [lab15.4] Record the launch, divide the gradient, and start its all-reduce.
    Tensor grad = trained()[index].second.grad();
    group().events().record(EventKind::kBucketLaunch, static_cast<int64_t>(index),
                            static_cast<int64_t>(grad.bytes()));
    ops::mul_(grad, 1.0f / static_cast<float>(group().world_size()));
    in_flight_.push_back(group().all_reduce_async(grad));
    // [lab15.4]
}

void OverlappedModule::on_end() {
    // [lab15.4] Wait for every all-reduce, in the order of their launches.
    for (size_t i = 0; i < in_flight_.size(); ++i) {
        in_flight_[i]->wait();
        group().events().record(EventKind::kBucketDone, static_cast<int64_t>(i));
    }
    in_flight_.clear();
    // [lab15.4]
}

}  // namespace mini::parallel
// [lab15 file]
