#include "libmini/distributed/group/queued_group.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/log.hpp"
#include "libmini/core/thread.hpp"
#include "libmini/distributed/collectives/elements.hpp"
#include "libmini/distributed/group/queued_task.hpp"
#include "libmini/distributed/group/subgroup.hpp"

namespace mini::dist {
namespace {

// A GPU's results come when the host may be elsewhere: there is no moment to copy them on.
void check_contiguous(const Call& call) {
    for (const Tensor& output : call.outputs)
        check_shape(output.is_contiguous(), operation_name(call.operation),
                    ": the output is ", output.shape(), " with strides ",
                    output.strides(), " on ", output.device(),
                    "; on a GPU it must be contiguous");
}

Elements only_tensor(const Call& call) {
    return Elements(call.operation == Operation::kSend ? call.inputs.front()
                                                       : call.outputs.front());
}

}  // namespace

QueuedGroup::QueuedGroup(std::unique_ptr<Backend> backend,
                         std::chrono::milliseconds timeout)
    : backend_(std::move(backend)),
      timeout_(timeout),
      recorder_({.rank = backend_->rank(),
                 .world_size = backend_->world_size(),
                 .backend = backend_->name()}) {
    backend_->set_on_wake([this] { post_points(); });
    try {
        thread_ = start_thread([this] { run(); });
    } catch (const Error&) {  // those that wait for this rank are to know why
        backend_->leave(current_failure());
        throw;
    }
}

QueuedGroup::~QueuedGroup() {
    stop(
        {Failure::Kind::kPeerLost, rank(), concat("rank ", rank(), " dropped its group")},
        When::kNow);
}

void QueuedGroup::barrier_until(Deadline deadline) {
    const std::chrono::milliseconds left(std::max(1, milliseconds_left(deadline)));
    start({.operation = Operation::kBarrier, .timeout = left, .blocking = true})->wait();
}

void QueuedGroup::shutdown() {
    stop({Failure::Kind::kPeerLost, rank(), concat("rank ", rank(), " left the group")},
         When::kAfterQueue);
    if (is_unheard_ && !is_heard_->exchange(true))
        throw_failure(
            {failure_->kind, failure_->rank,
             concat("shutdown: what was on the GPU when wait() returned has not "
                    "come to its end: ",
                    failure_->message)});
}

void QueuedGroup::abandon(const std::string& reason) {
    stop({Failure::Kind::kOther, rank(), reason}, When::kNow);
    recorder_.dump_failure(reason);
}

// ---- the callers' side

WorkHandle QueuedGroup::start(Call call) {
    const Collective collective = collective_of(call, rank(), world_size());
    for (Tensor& output : call.outputs) output.bump_version();
    const Way way = way_of(call);
    auto task = std::make_shared<Task>(std::move(call), collective, way);
    task->is_heard = is_heard_;

    const std::lock_guard lock(mutex_);
    check_usable(task->call);
    if (task->call.is_point()) {
        enqueue_point(task);
    } else {
        enqueue_collective(task);
    }
    return task;
}

QueuedGroup::Way QueuedGroup::way_of(const Call& call) const {
    if (!is_on_gpu(call)) return Way::kHost;
    check_contiguous(call);
    check_not_recorded(call);
    if (!backend_->takes_cuda() || call.is_point()) return Way::kStaged;
    const Device device = call.any_tensor().device();
    MINI_CHECK(device.index == backend_->gpu(), operation_name(call.operation),
               ": the tensor is on ", device, ", but rank ", rank(), "'s GPU in backend ",
               backend(), " is ", Device::cuda(backend_->gpu()),
               "; move it there, or call set_default_device before init_process_group");
    return Way::kLaunched;
}

std::shared_ptr<ProcessGroup> QueuedGroup::new_group(const std::vector<int>& ranks) {
    check_subgroup(ranks, *this);
    std::unique_ptr<Backend> backend = backend_->split(ranks, *this);
    if (!backend) return nullptr;
    return std::make_shared<QueuedGroup>(std::move(backend), timeout_);
}

void QueuedGroup::check_usable(const Call& call) const {
    const char* const name = operation_name(call.operation);
    if (failure_) {
        *is_heard_ = true;
        throw_failure({failure_->kind, failure_->rank,
                       concat(name, ": the group is broken since: ", failure_->message)});
    }
    MINI_CHECK(!closing_, name, ": the group has been shut down");
    MINI_CHECK(!call.blocking || call.is_point() || !has_blocked_caller_, name,
               ": two threads call blocking operations of one group at once, so the "
               "ranks cannot agree on an order; give each thread its own group");
}

void QueuedGroup::enqueue_point(const TaskHandle& task) {
    const Call& call = task->call;
    const auto timeout = call.timeout.value_or(timeout_);
    const bool sends = call.operation == Operation::kSend;
    PointMessage& message = task->message;
    message.direction =
        sends ? PointMessage::Direction::kSend : PointMessage::Direction::kRecv;
    message.peer = call.peer;
    message.tag = call.tag;
    message.dtype = task->collective.dtype;
    message.data = only_tensor(call).bytes;
    message.timeout = timeout;
    message.deadline = deadline_after(timeout);
    message.finished = [this, task] { finish(task); };
    task->ticket =
        recorder_.queued(task->collective, message.data.size(), call.peer, call.tag);
    new_points_.push_back(task);
    if (running_) backend_->wake();
    changed_.notify_all();
}

void QueuedGroup::enqueue_collective(const TaskHandle& task) {
    task->collective.sequence = next_sequence_++;
    task->ticket = recorder_.queued(task->collective, payload_bytes(task->call));
    task->take_turn();  // while no other thread's call can come between
    const bool may_help = task->call.blocking && is_idle();
    queue_.push_back(task);
    if (task->call.blocking) {
        task->helper = this;
        has_blocked_caller_ = true;
    }
    if (may_help) return;  // the caller comes back in wait() and does it
    if (progressing_) backend_->wake();
    changed_.notify_all();
}

// Whether nothing is under way and nothing waits.
bool QueuedGroup::is_idle() const {
    return !running_ && queue_.empty() && under_way_.empty() && new_points_.empty();
}

// Runs a blocking call on its caller's thread, if its turn has come.
void QueuedGroup::help(const Task& task) {
    const FreesLater scope;
    std::unique_lock lock(mutex_);
    const bool my_turn = !running_ && under_way_.empty() && new_points_.empty() &&
                         !queue_.empty() && queue_.front().get() == &task;
    if (!my_turn) {
        changed_.notify_all();
        return;
    }
    const TaskHandle mine = queue_.front();
    queue_.pop_front();
    running_ = true;
    lock.unlock();
    turn(mine);
}

void QueuedGroup::let_next_caller_in() {
    const std::lock_guard lock(mutex_);
    has_blocked_caller_ = false;
}

// ---- the side of the backend

bool QueuedGroup::has_work() const {
    return !running_ && !(queue_.empty() && new_points_.empty() && under_way_.empty());
}

void QueuedGroup::run() {
    logging::set_rank(rank());
    const FreesLater scope;
    while (true) {
        TaskHandle task;
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return has_work() || (closing_ && !running_); });
            if (!has_work()) return;
            if (!queue_.empty()) {
                task = queue_.front();
                queue_.pop_front();
            }
            running_ = true;
            progressing_ = task == nullptr;
        }
        turn(task);
    }
}

// One collective, or, with null, as far as the messages from point to point go.
void QueuedGroup::turn(const TaskHandle& task) {
    try {
        post_points();
        if (task) {
            execute(task);
        } else {
            backend_->progress();
        }
    } catch (...) {
        fail(task, current_failure());
    }
    const std::lock_guard lock(mutex_);
    running_ = progressing_ = false;
    changed_.notify_all();
}

void QueuedGroup::execute(const TaskHandle& task) {
    const Call& call = task->call;
    const char* const name = operation_name(call.operation);
    const auto sequence = static_cast<int64_t>(task->collective.sequence);
    const uint64_t bytes = backend_->bytes_sent(), messages = backend_->messages_sent();

    events_.record(EventKind::kCollectiveBegin, sequence,
                   static_cast<int64_t>(payload_bytes(call)), name);
    recorder_.started(task->ticket);
    if (task->on_gpu() != nullptr) return launch(task);
    wait_for_inputs(*task);
    backend_->run(call, task->collective, call.timeout.value_or(timeout_));
    recorder_.finished(task->ticket, backend_->last_algorithm());
    events_.record(
        EventKind::kAlgorithm, static_cast<int64_t>(backend_->messages_sent() - messages),
        static_cast<int64_t>(backend_->bytes_sent() - bytes), backend_->last_algorithm());
    events_.record(EventKind::kCollectiveEnd, sequence,
                   static_cast<int64_t>(backend_->bytes_sent() - bytes), name);
    task->succeed();
}

// Gives a collective to the GPU. It is under way then, as messages from point to point are.
void QueuedGroup::launch(const TaskHandle& task) {
    GpuCollective& on_gpu = *task->on_gpu();
    on_gpu.collective = task->collective;
    on_gpu.timeout = task->call.timeout.value_or(timeout_);
    on_gpu.deadline = deadline_after(on_gpu.timeout);
    on_gpu.finished = [this, task] {
        events_.record(EventKind::kCollectiveEnd,
                       static_cast<int64_t>(task->collective.sequence), 0,
                       operation_name(task->collective.operation));
        finish(task);
    };
    backend_->launch(on_gpu);
    {
        const std::lock_guard lock(mutex_);
        under_way_.insert(task);
    }
    task->set_launched();
}

void QueuedGroup::finish(const TaskHandle& task) {
    {
        const std::lock_guard lock(mutex_);
        under_way_.erase(task);
    }
    recorder_.finished(task->ticket);
    try {
        task->succeed();
    } catch (...) {  // it is under way no more: nobody else would say so
        task->fail(current_failure());
        throw;
    }
}

// Ends everything: what is under way, what is queued, and what the others wait for.
void QueuedGroup::fail(const TaskHandle& task, const Failure& failure) {
    Tasks unfinished;
    {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = failure;
        unfinished.swap(queue_);
        unfinished.insert(unfinished.end(), new_points_.begin(), new_points_.end());
        unfinished.insert(unfinished.end(), under_way_.begin(), under_way_.end());
        new_points_.clear();
        under_way_.clear();
        for (const TaskHandle& dropped : unfinished) {
            is_unheard_ |= dropped->is_launched();
            dropped->give_up_turn();
        }
    }
    // Tell the other ranks first: who waits for the task may end the process. Let go of the
    // GPU last, for that may take as long as the device does, but before the tensors go.
    backend_->leave(*failure_);  // failure_ does not change any more
    if (task) recorder_.failed(task->ticket);
    for (const TaskHandle& dropped : unfinished) recorder_.failed(dropped->ticket);
    recorder_.dump_failure(failure_->message, failure_->kind == Failure::Kind::kPeerLost
                                                  ? failure_->rank
                                                  : -1);
    if (task) task->fail(failure);
    fail_all(unfinished);
    backend_->let_go();
    if (task) task->drop_tensors();
    for (const TaskHandle& dropped : unfinished) dropped->drop_tensors();
}

void QueuedGroup::fail_all(const Tasks& tasks) const {
    for (const TaskHandle& task : tasks) {
        const std::string text = task->text();
        const bool is_the_cause = failure_->message.find(text) != std::string::npos;
        const char* const what = task->call.is_point() || task->is_launched()
                                     ? " was not finished: "
                                     : " was not run: ";
        task->fail(
            {failure_->kind, failure_->rank,
             is_the_cause ? failure_->message : concat(text, what, failure_->message)});
        task->message.finished = nullptr;
    }
}

// Ends the communication thread: after what is queued, or, to drop it, at once.
void QueuedGroup::stop(const Failure& reason, When when) {
    const std::lock_guard stopping(stop_mutex_);
    if (!thread_.joinable()) return;
    Tasks dropped;
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
        if (when == When::kNow) {
            if (!failure_) failure_ = reason;
            dropped.swap(queue_);
            dropped.insert(dropped.end(), new_points_.begin(), new_points_.end());
            new_points_.clear();
            if (running_ || !under_way_.empty()) backend_->interrupt();
        }
        changed_.notify_all();
    }
    for (const TaskHandle& task : dropped) recorder_.failed(task->ticket);
    fail_all(dropped);
    for (const TaskHandle& task : dropped) task->drop_tensors();  // nobody has begun them
    thread_.join();

    // A caller may still be in the backend: what it runs was interrupted, or ends.
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !running_; });
    backend_->leave(reason);
    backend_->let_go();
}

}  // namespace mini::dist
