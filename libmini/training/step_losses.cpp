#include "libmini/training/step_losses.hpp"

#include "libmini/tensor/ops.hpp"

namespace mini::training {

void StepLosses::add(const Tensor& loss) {
    if (loss.device().is_cpu()) {
        losses_.push_back(static_cast<float>(loss.item()));
        return;
    }
    if (!unread_.defined()) unread_ = loss.new_empty({steps_per_read_});
    Tensor element = ops::select(unread_, 0, count_++);
    ops::copy_(element, loss.detach());
    if (count_ == steps_per_read_) read();
}

void StepLosses::read() {
    if (count_ == 0) return;
    const auto values = ops::narrow(unread_, 0, 0, count_).to_vector<float>();
    losses_.insert(losses_.end(), values.begin(), values.end());
    count_ = 0;
}

}  // namespace mini::training
