#include "libmini/distributed/group/task.hpp"

#include <cstddef>
#include <string>
#include <utility>

#include "libmini/distributed/collectives/elements.hpp"
#include "libmini/distributed/net/wait_on.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::dist {
namespace {

// Returns `call` with a contiguous copy in place of each tensor that is not contiguous.
Call contiguous(const Call& call) {
    Call copy = call;
    for (auto* tensors : {&copy.outputs, &copy.inputs})
        for (Tensor& tensor : *tensors)
            if (!tensor.is_contiguous()) tensor = ops::contiguous(tensor);
    return copy;
}

// Copies the results of `from`, a result of contiguous(), to the non-contiguous outputs
// of the original call `to`.
void copy_back(const Call& from, Call& to) {
    for (size_t i = 0; i < to.outputs.size(); ++i)
        if (!to.outputs[i].is_contiguous()) ops::copy_(to.outputs[i], from.outputs[i]);
}

// Throws ShapeError if an output is not contiguous: GPU results arrive asynchronously,
// when no host thread waits to copy them to a non-contiguous output.
void check_contiguous(const Call& call) {
    for (const Tensor& output : call.outputs)
        check_shape(output.is_contiguous(), operation_name(call.operation),
                    ": the output is ", output.shape(), " with strides ",
                    output.strides(), " on ", output.device(),
                    "; on a GPU it must be contiguous");
}

PointMessage message_of(const Call& call, std::chrono::milliseconds timeout) {
    const bool sends = call.operation == Operation::kSend;
    PointMessage message;
    message.direction =
        sends ? PointMessage::Direction::kSend : PointMessage::Direction::kRecv;
    message.peer = call.peer;
    message.tag = call.tag;
    message.dtype = call.any_tensor().dtype();
    message.data = Elements(call.any_tensor()).bytes;
    message.timeout = timeout;
    message.deadline = deadline_after(timeout);
    return message;
}

}  // namespace

Task::Task(Call wanted, Backend& backend, std::chrono::milliseconds default_timeout)
    : wanted_(std::move(wanted)),
      collective(collective_of(wanted_, backend.rank(), backend.world_size())),
      timeout(wanted_.timeout.value_or(default_timeout)) {
    for (Tensor& output : wanted_.outputs) output.bump_version();
    if (wanted_.is_on_gpu()) check_contiguous(wanted_);
    call = contiguous(wanted_);
    if (wanted_.is_on_gpu()) {
        if (!call.is_point()) on_gpu_ = backend.on_gpu(call);
        if (!on_gpu_) staging_ = std::make_unique<GpuStaging>(call);
    }
    if (call.is_point()) message = message_of(call, timeout);
}

std::string Task::text() const {
    return call.is_point() ? describe(message) : describe(collective);
}

bool Task::is_completed() const {
    const std::lock_guard lock(mutex_);
    return done_;
}

void Task::wait() {
    std::optional<Failure> failure;
    {
        std::unique_lock lock(mutex_);
        wait_on(changed_, lock, kNever, [this] {
            return done_ || launched_;  // the wait ends: every task has a deadline
        });
        failure = failure_;
    }
    if (failure) {
        *failure_reported = true;
        throw_failure(*failure);
    }
    if (staging_) staging_->wait_on_stream();
    if (on_gpu_) on_gpu_->wait_on_stream();
}

int Task::source_rank() const {
    return call.operation == Operation::kRecv ? message.source : -1;
}

void Task::set_launched() {
    const std::lock_guard lock(mutex_);
    launched_ = true;
    notify_all(changed_);
}

bool Task::is_launched() const {
    const std::lock_guard lock(mutex_);
    return launched_;
}

void Task::succeed() {
    if (staging_) {
        staging_->give_back(call, wanted_);
    } else if (!on_gpu_) {
        copy_back(call, wanted_);
    }
    drop_tensors();
    end(std::nullopt);
}

void Task::fail(Failure failure) {
    message.finished = nullptr;  // holds a reference to this task
    if (on_gpu_) {
        on_gpu_->finished = nullptr;  // likewise
        on_gpu_->give_up_turn();
    }
    end(std::move(failure));
}

void Task::drop_tensors() {
    wanted_ = {};
    call.outputs.clear();
    call.inputs.clear();
}

void Task::end(std::optional<Failure> failure) {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(failure);
    done_ = true;
    notify_all(changed_);
}

}  // namespace mini::dist
