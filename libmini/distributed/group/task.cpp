#include "libmini/distributed/group/task.hpp"

#include <cstddef>
#include <string>
#include <utility>

#include "libmini/distributed/net/wait_on.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::dist {
namespace {

// Returns `call` with a contiguous copy in place of each tensor that is not contiguous.
Call contiguous(const Call& call) {
    Call copy = call;
    for (auto* tensors : {&copy.outputs, &copy.inputs})
        for (Tensor& tensor : *tensors) tensor = ops::contiguous(tensor);
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

}  // namespace

Way way_of(const Call& call, const Backend& backend) {
    if (!is_on_gpu(call)) return Way::kHost;
    check_contiguous(call);
    if (!backend.takes_cuda() || call.is_point()) return Way::kStaged;
    const Device device = call.any_tensor().device();
    MINI_CHECK(device.index == backend.gpu(), operation_name(call.operation),
               ": the tensor is on ", device, ", but rank ", backend.rank(),
               "'s GPU in backend ", backend.name(), " is ", Device::cuda(backend.gpu()),
               "; move it there, or call set_default_device before init_process_group");
    return Way::kLaunched;
}

Task::Task(Call wanted, const Collective& collective, Way way)
    : collective(collective), wanted_(std::move(wanted)), call(contiguous(wanted_)) {
    if (way == Way::kStaged) {
        staging_ = std::make_unique<GpuStaging>(call);
        call = staging_->host_call();
    } else if (way == Way::kLaunched) {
        gpu_.call = &call;
        gpu_.order = std::make_unique<GpuOrder>(call.any_tensor().device());
    }
}

bool Task::has_inputs() const { return staging_ == nullptr || staging_->has_inputs(); }

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
    if (gpu_.order) gpu_.order->wait_on_stream();
}

int Task::source_rank() const {
    return call.operation == Operation::kRecv ? message.source : -1;
}

void Task::take_turn() {
    if (gpu_.order)
        gpu_.turn = std::make_unique<LaunchPosition>(call.any_tensor().device().index);
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
        staging_->give_back();
    } else if (!gpu_.order) {
        copy_back(call, wanted_);
    }
    drop_tensors();
    end(std::nullopt);
}

void Task::fail(Failure failure) {
    gpu_.finished = nullptr;  // holds a reference to this task
    gpu_.turn = nullptr;
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
