#include "libmini/distributed/group/queued_task.hpp"

#include <cstddef>
#include <string>
#include <utility>

#include "libmini/tensor/ops.hpp"

namespace mini::dist {
namespace {

// The call on contiguous tensors: copies where they are not.
Call contiguous(const Call& call) {
    Call copy = call;
    for (auto* tensors : {&copy.outputs, &copy.inputs})
        for (Tensor& tensor : *tensors) tensor = ops::contiguous(tensor);
    return copy;
}

// Brings the results of such a call to where they were wanted.
void copy_back(const Call& from, Call& to) {
    for (size_t i = 0; i < to.outputs.size(); ++i)
        if (!to.outputs[i].is_contiguous()) ops::copy_(to.outputs[i], from.outputs[i]);
}

}  // namespace

QueuedGroup::Task::Task(Call wanted, const Collective& collective, Way way)
    : collective(collective), wanted_(std::move(wanted)), call(contiguous(wanted_)) {
    if (way == Way::kStaged) {
        staging_ = std::make_unique<GpuStaging>(call);
        call = staging_->host_call();
    } else if (way == Way::kLaunched) {
        gpu_.call = &call;
        gpu_.order = std::make_unique<GpuOrder>(call.any_tensor().device());
    }
}

bool QueuedGroup::Task::has_inputs() const {
    return staging_ == nullptr || staging_->has_inputs();
}

std::string QueuedGroup::Task::text() const {
    return call.is_point() ? describe(message) : describe(collective);
}

bool QueuedGroup::Task::is_completed() const {
    const std::lock_guard lock(mutex_);
    return done_;
}

void QueuedGroup::Task::wait() {
    if (helper != nullptr) helper->help(*this);
    std::optional<Failure> failure;
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] {
            return done_ || launched_;  // it ends: every task has a deadline
        });
        failure = failure_;
    }
    if (helper != nullptr) helper->let_next_caller_in();
    if (failure) {
        *is_heard = true;
        throw_failure(*failure);
    }
    if (staging_) staging_->wait_on_stream();
    if (gpu_.order) gpu_.order->wait_on_stream();
}

int QueuedGroup::Task::source_rank() const {
    return call.operation == Operation::kRecv ? message.source : -1;
}

void QueuedGroup::Task::take_turn() {
    if (gpu_.order)
        gpu_.turn = std::make_unique<GpuTurn>(call.any_tensor().device().index);
}

void QueuedGroup::Task::set_launched() {
    const std::lock_guard lock(mutex_);
    launched_ = true;
    changed_.notify_all();
}

bool QueuedGroup::Task::is_launched() const {
    const std::lock_guard lock(mutex_);
    return launched_;
}

void QueuedGroup::Task::succeed() {
    if (staging_) {
        staging_->give_back();
    } else if (!gpu_.order) {
        copy_back(call, wanted_);
    }
    drop_tensors();
    end(std::nullopt);
}

void QueuedGroup::Task::fail(Failure failure) {
    gpu_.finished = nullptr;  // it keeps this task
    gpu_.turn = nullptr;
    end(std::move(failure));
}

void QueuedGroup::Task::drop_tensors() {
    wanted_ = {};
    call.outputs.clear();
    call.inputs.clear();
}

void QueuedGroup::Task::end(std::optional<Failure> failure) {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(failure);
    done_ = true;
    changed_.notify_all();
}

}  // namespace mini::dist
