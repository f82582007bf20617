#include "libmini/parallel/rungs.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "libmini/autograd/node.hpp"
#include "libmini/parallel/average_gradients.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::parallel {

GradientListener::GradientListener(nn::Module& module,
                                   std::shared_ptr<dist::ProcessGroup> group)
    : ReplicatedModule(module, std::move(group), /*broadcast_buffers=*/true) {
    for (size_t index = 0; index < trained().size(); ++index) {
        const auto hear = [this, index](const Tensor&) {
            if (!expecting_) return;
            if (!std::exchange(started_, true))
                queue_callback([this] {
                    this->group().events().record(EventKind::kBackwardEnd);
                    on_end();
                    expecting_ = started_ = false;
                });
            on_gradient(index);
        };
        hooks_.push_back(grad_accumulator(trained()[index].second)->add_hook(hear));
    }
}

GradientListener::~GradientListener() {
    for (size_t index = 0; index < hooks_.size(); ++index)
        grad_accumulator(trained()[index].second)->remove_hook(hooks_[index]);
}

void GradientListener::prepare_for_backward(const Tensor&) {
    expecting_ = true;
    started_ = false;
}

std::vector<Tensor> GradientListener::trained_tensors() const {
    std::vector<Tensor> tensors;
    for (const auto& [name, parameter] : trained()) tensors.push_back(parameter);
    return tensors;
}

void AveragedModule::on_end() { average_gradients(trained_tensors(), group()); }

void FlatModule::on_end() { average_flat_gradients(trained_tensors(), group()); }

void OverlappedModule::on_gradient(size_t index) {
    Tensor grad = trained()[index].second.grad();
    ops::mul_(grad, 1.0f / static_cast<float>(group().world_size()));
    group().events().record(EventKind::kBucketLaunch, static_cast<int64_t>(index),
                            static_cast<int64_t>(grad.bytes()));
    under_way_.push_back(group().all_reduce_async(grad));
}

void OverlappedModule::on_end() {
    for (size_t i = 0; i < under_way_.size(); ++i) {
        under_way_[i]->wait();
        group().events().record(EventKind::kBucketDone, static_cast<int64_t>(i));
    }
    under_way_.clear();
}

}  // namespace mini::parallel
