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

struct GradientListener::Impl {
    void gradient_ready(size_t index);    // called by the hooks, in every pass
    void end_backward();                  // called at the end of a pass that averages
    std::vector<Tensor> tensors() const;  // trained() without the names

    GradientListener& listener;
    std::vector<std::shared_ptr<AccumulateGrad>> accumulators = {};  // of trained()
    std::vector<int> hooks = {};                                     // for remove_hook()
    bool averages = false;      // the next backward pass, or the running one, averages
    bool has_gradient = false;  // the running pass has reached its first gradient
    std::vector<dist::WorkHandle> in_flight = {};  // of OverlappedModule, in this pass
};

GradientListener::GradientListener(nn::Module& module,
                                   std::shared_ptr<dist::ProcessGroup> group)
    : ReplicatedModule(module, std::move(group), /*broadcast_buffers=*/true),
      impl_(new Impl{.listener = *this}) {
    // [lab15.3] Add one hook to each trained parameter, and keep the hooks' ids.
    for (size_t index = 0; index < trained().size(); ++index) {
        impl_->accumulators.push_back(grad_accumulator(trained()[index].second));
        impl_->hooks.push_back(impl_->accumulators.back()->add_hook(
            [impl = impl_.get(), index](const Tensor&) { impl->gradient_ready(index); }));
    }
    // [lab15.3]
}

GradientListener::~GradientListener() {
    for (size_t index = 0; index < impl_->hooks.size(); ++index)
        impl_->accumulators[index]->remove_hook(impl_->hooks[index]);
}

void GradientListener::prepare_for_backward(const Tensor&) {
    impl_->averages = true;
    impl_->has_gradient = false;
}

bool GradientListener::averages_next() const { return impl_->averages; }

void GradientListener::Impl::gradient_ready(size_t index) {
    // [lab15.3] At a pass's first gradient queue its end; report every gradient.
    if (!averages) return;
    if (!has_gradient) queue_callback([this] { end_backward(); });
    has_gradient = true;
    listener.on_gradient(index);
    // [lab15.3]
}

void GradientListener::Impl::end_backward() {
    averages = has_gradient = false;  // even if an error follows
    listener.group().events().record(EventKind::kBackwardEnd);
    for (const auto& [name, parameter] : listener.trained())
        MINI_CHECK(parameter.grad().defined(), "averaging: parameter ", name,
                   " has no gradient on rank ", listener.group().rank(),
                   "; every parameter must take part in the loss, and stay unfrozen");
    listener.on_end();
}

std::vector<Tensor> GradientListener::Impl::tensors() const {
    std::vector<Tensor> found;
    for (const auto& [name, parameter] : listener.trained()) found.push_back(parameter);
    return found;
}

void AveragedModule::on_end() { average_gradients(impl_->tensors(), group()); }

void FlatModule::on_end() { average_flat_gradients(impl_->tensors(), group()); }

void OverlappedModule::on_gradient(size_t index) {
    // [lab15.4] Record the launch, divide the gradient, and start its all-reduce.
    Tensor grad = trained()[index].second.grad();
    group().events().record(EventKind::kBucketLaunch, static_cast<int64_t>(index),
                            static_cast<int64_t>(grad.bytes()));
    ops::mul_(grad, 1.0f / static_cast<float>(group().world_size()));
    impl_->in_flight.push_back(group().all_reduce_async(grad));
    // [lab15.4]
}

void OverlappedModule::on_end() {
    // [lab15.4] Wait for every all-reduce, in the order of their launches.
    for (size_t i = 0; i < impl_->in_flight.size(); ++i) {
        impl_->in_flight[i]->wait();
        group().events().record(EventKind::kBucketDone, static_cast<int64_t>(i));
    }
    impl_->in_flight.clear();
    // [lab15.4]
}

}  // namespace mini::parallel
// [lab15 file]
