#include "libmini/distributed/group/queued_group.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/log.hpp"
#include "libmini/distributed/group/subgroup.hpp"
#include "libmini/distributed/net/clock.hpp"
#include "libmini/distributed/net/wait_on.hpp"

namespace mini::dist {
namespace {

// Returns whether two messages of this rank must stay in call order, because one message
// of the other side could match both.
bool are_in_order(const PointMessage& a, const PointMessage& b) {
    const bool one_peer =
        a.peer == b.peer || a.peer == kAnySource || b.peer == kAnySource;
    return a.direction == b.direction && one_peer && a.tag == b.tag;
}

// The Work of a collective that its caller has run.
struct DoneWork : Work {
    bool is_completed() const override { return true; }
    void wait() override {}
};

std::unique_ptr<GroupObserver> make_observer(const Backend& backend,
                                             const GroupIdentity& identity) {
    const auto make = make_group_observer.load();
    if (!make) return std::make_unique<GroupObserver>();
    return make({.rank = backend.rank(),
                 .world_size = backend.world_size(),
                 .backend = backend.name(),
                 .group = identity.name,
                 .members = identity.world_ranks});
}

}  // namespace

QueuedGroup::QueuedGroup(std::unique_ptr<Backend> backend,
                         std::chrono::milliseconds timeout, GroupIdentity identity)
    : backend_(std::move(backend)),
      timeout_(timeout),
      identity_(std::move(identity)),
      observer_(make_observer(*backend_, identity_)) {
    backend_->set_on_wake([this] { post_points(); });
    backend_->set_note(identity_.note());
    try {
        join_thread_ = system().start_thread([this, rank = identity_.world_rank(rank())] {
            logging::set_rank(rank);
            loop();
        });
    } catch (const Error&) {  // notify the ranks that wait for this one
        backend_->leave(current_failure());
        throw;
    }
}

QueuedGroup::~QueuedGroup() {
    stop(
        {Failure::Kind::kPeerLost, rank(), concat("rank ", rank(), " dropped its group")},
        When::kNow);
}

std::string QueuedGroup::name() const {
    return identity_.name.empty() ? ProcessGroup::name() : identity_.name;
}

std::vector<int> QueuedGroup::world_ranks() const {
    return identity_.name.empty() ? ProcessGroup::world_ranks() : identity_.world_ranks;
}

void QueuedGroup::barrier_until(Deadline deadline) {
    const std::chrono::milliseconds left(std::max(1, milliseconds_left(deadline)));
    start({.operation = Operation::kBarrier, .timeout = left})->wait();
}

void QueuedGroup::shutdown() {
    stop({Failure::Kind::kPeerLost, rank(), concat("rank ", rank(), " left the group")},
         When::kAfterQueue);
    if (late_failure_ && !failure_reported_->exchange(true))
        throw_failure(identity_.in_job(
            {failure_->kind, failure_->rank,
             concat("shutdown: an operation that was on the GPU when wait() returned "
                    "has failed: ",
                    failure_->message)}));
}

void QueuedGroup::abandon(const std::string& reason) {
    stop({Failure::Kind::kOther, rank(), reason}, When::kNow);
    observer_->note_failure(reason);
}

// ---- the callers' side

WorkHandle QueuedGroup::start(Call call) {
    static DoneWork done;
    if (caller_waits() && run_here(call)) return {WorkHandle(), &done};  // owns nothing

    // Without the lock, because a copy or an event in a full stream blocks.
    const auto task = std::make_shared<Task>(std::move(call), *backend_, timeout_);
    task->failure_reported = failure_reported_;

    std::unique_lock lock(mutex_);
    check_usable(task->call.operation);
    if (task->call.is_point()) {
        task->message.finished = [this, task] { finish(task); };
        points_.push_back(task);
    } else {
        // Under the lock: the sequence numbers and the turns are in the queue's order.
        task->collective.sequence = next_sequence_++;
        if (task->on_gpu() != nullptr) task->on_gpu()->take_turn();
        queue_.push_back(task);
    }
    task->operation_id = observer_->queued(task->collective, payload_bytes(task->call),
                                           task->call.peer, task->call.tag);
    if (running_) backend_->wake();  // the communication thread may sleep there
    notify_all(changed_);
    return task;
}

// Runs a blocking collective on its caller's thread if the group is idle: two changes of
// threads would take longer than a small collective. Returns whether it has run. Throws if
// it has failed. Makes no Task, which would take 0.25 us more (one rank, 4 bytes, Intel
// Xeon, 2026-11-30: 0.48 and 0.73 us).
bool QueuedGroup::run_here(Call& call) {
    const bool needs_copies =
        call.is_on_gpu() || !std::ranges::all_of(call.outputs, &Tensor::is_contiguous) ||
        !std::ranges::all_of(call.inputs, &Tensor::is_contiguous);
    if (needs_copies) return false;
    Collective collective = collective_of(call, rank(), world_size());
    std::unique_lock lock(mutex_);
    if (!is_idle() || failure_) return false;
    const DeferredFreeScope scope;
    running_ = true;
    collective.sequence = next_sequence_++;
    const auto operation = observer_->started_at_once(collective, payload_bytes(call),
                                                      record_begin(call, collective));
    lock.unlock();

    std::optional<Failure> failure;
    try {
        for (Tensor& output : call.outputs) output.bump_version();
        carry_out(call, collective, call.timeout.value_or(timeout_), operation);
    } catch (...) {
        failure = current_failure();
        fail(nullptr, *failure, operation);
    }
    lock.lock();
    running_ = false;
    if (has_work() || closed_) notify_all(changed_);
    if (!failure) return true;
    *failure_reported_ = true;
    throw_failure(identity_.in_job(*failure));
}

std::shared_ptr<ProcessGroup> QueuedGroup::new_group(const std::vector<int>& ranks) {
    const uint64_t number = ++subgroups_;
    check_subgroup(ranks, *this);
    GroupIdentity identity = identity_.subgroup(number, ranks);
    std::unique_ptr<Backend> backend = split(ranks, identity);
    if (!backend) return nullptr;
    const auto group =
        std::make_shared<QueuedGroup>(std::move(backend), timeout_, std::move(identity));
    // A member that leaves before the others are connected would break them.
    group->barrier();
    return group;
}

// Creates the backend of a subgroup. The failures of the subgroup's connections have the
// ranks of the subgroup; the failures of this group are complete already.
std::unique_ptr<Backend> QueuedGroup::split(const std::vector<int>& ranks,
                                            const GroupIdentity& identity) {
    try {
        return backend_->split(ranks, *this);
    } catch (const Error&) {
        const Failure failure = current_failure();
        const std::lock_guard lock(mutex_);
        if (failure_ || failure.kind == Failure::Kind::kOther) throw;
        throw_failure(identity.in_job(failure));
    }
}

void QueuedGroup::check_usable(Operation operation) const {
    const char* const name = operation_name(operation);
    if (failure_) {
        *failure_reported_ = true;
        throw_failure(identity_.in_job(
            {failure_->kind, failure_->rank,
             concat(name, ": the group is broken: ", failure_->message)}));
    }
    MINI_CHECK(!closed_, name, ": the group has been shut down");
}

// ---- the communication thread's side

void QueuedGroup::loop() {
    std::unique_lock lock(mutex_);
    while (true) {
        wait_on(changed_, lock, kNever,
                [this] { return !running_ && (has_work() || closed_); });
        if (!has_work()) return;
        TaskHandle task;
        if (!queue_.empty()) {
            task = queue_.front();
            queue_.pop_front();
        }
        run(std::move(task), lock);
    }
}

// Runs one collective or, given null, makes progress on the operations in flight. Releases
// `lock` meanwhile, and `task` before it locks again. No other thread runs until then.
void QueuedGroup::run(TaskHandle task, std::unique_lock<std::mutex>& lock) {
    const DeferredFreeScope scope;
    const bool has_points = !points_.empty();  // for a later one, start() calls wake()
    running_ = true;
    lock.unlock();
    try {
        if (has_points) post_points();
        if (task) {
            execute(task);
        } else {
            backend_->progress();
        }
    } catch (...) {
        fail(task, current_failure(), task ? task->operation_id : 0);
    }
    task = nullptr;
    lock.lock();
    running_ = false;
}

void QueuedGroup::execute(const TaskHandle& task) {
    record_begin(task->call, task->collective);
    observer_->started(task->operation_id);
    if (task->on_gpu() != nullptr) return launch(task);
    wait_for_inputs(*task);
    carry_out(task->call, task->collective, task->timeout, task->operation_id);
    task->succeed();
}

// Returns the event's time.
int64_t QueuedGroup::record_begin(const Call& call, const Collective& collective) {
    return events_.record(
        EventKind::kCollectiveBegin, static_cast<int64_t>(collective.sequence),
        static_cast<int64_t>(payload_bytes(call)), operation_name(call.operation));
}

void QueuedGroup::carry_out(const Call& call, const Collective& collective,
                            std::chrono::milliseconds timeout,
                            GroupObserver::OperationId operation) {
    const uint64_t bytes = backend_->bytes_sent(), messages = backend_->messages_sent();
    backend_->run(call, collective, timeout);
    const int64_t now = events_.record(
        EventKind::kCollectiveEnd, static_cast<int64_t>(collective.sequence),
        static_cast<int64_t>(backend_->bytes_sent() - bytes),
        operation_name(call.operation),
        static_cast<int64_t>(backend_->messages_sent() - messages),
        backend_->last_algorithm());
    observer_->finished(operation, backend_->last_algorithm(), now);
}

// Launches a collective in the backend's stream; afterwards the collective is in flight.
void QueuedGroup::launch(const TaskHandle& task) {
    GpuCollective& on_gpu = *task->on_gpu();
    on_gpu.call = &task->call;
    on_gpu.collective = task->collective;
    on_gpu.timeout = task->timeout;
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
        in_flight_.insert(task);
    }
    task->set_launched();
}

void QueuedGroup::finish(const TaskHandle& task) {
    {
        const std::lock_guard lock(mutex_);
        in_flight_.erase(task);
    }
    observer_->finished(task->operation_id, "", Clock::now().time_since_epoch().count());
    try {
        task->succeed();
    } catch (...) {  // the task is no longer in flight, so fail() would not find it
        fail_task(*task, current_failure());
        throw;
    }
}

// Removes and returns the tasks that were not passed to the backend yet. REQUIRES: the
// mutex is locked.
QueuedGroup::Tasks QueuedGroup::take_queued() {
    Tasks queued = std::exchange(queue_, {});
    queued.insert(queued.end(), points_.begin(), points_.end());
    points_.clear();
    return queued;
}

// Fails `task` and all other operations, in flight and queued, and notifies the other
// ranks. `task` is null if the failure is not of a collective from the queue; `operation`
// is the collective that failed, or 0.
void QueuedGroup::fail(const TaskHandle& task, const Failure& failure,
                       GroupObserver::OperationId operation) {
    Tasks unfinished;
    {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = failure;
        unfinished = take_queued();
        unfinished.insert(unfinished.end(), in_flight_.begin(), in_flight_.end());
        in_flight_.clear();
        for (const TaskHandle& dropped : unfinished) {
            late_failure_ |= dropped->is_launched();
            if (dropped->on_gpu() != nullptr) dropped->on_gpu()->give_up_turn();
        }
    }
    // Notify the other ranks first: a caller that waits for a task may end the process.
    // Free the GPU resources after the tasks have failed, because this may block until
    // the device is done. Free the tensors last, because the device may still use them.
    backend_->leave(*failure_);  // failure_ no longer changes
    observer_->failed(operation);
    for (const TaskHandle& dropped : unfinished) observer_->failed(dropped->operation_id);
    const Failure first = identity_.in_job(*failure_);
    observer_->note_failure(first.message,
                            first.kind == Failure::Kind::kOther ? -1 : first.rank);
    if (task) fail_task(*task, failure);
    fail_all(unfinished);
    backend_->free_gpu();
    if (task) task->drop_tensors();
    for (const TaskHandle& dropped : unfinished) dropped->drop_tensors();
}

void QueuedGroup::fail_task(Task& task, const Failure& failure) const {
    task.fail(identity_.in_job(failure));
}

void QueuedGroup::fail_all(const Tasks& tasks) const {
    for (const TaskHandle& task : tasks) {
        const std::string text = task->text();
        const bool is_the_cause = failure_->message.find(text) != std::string::npos;
        const char* const what = task->call.is_point() || task->is_launched()
                                     ? " was not finished: "
                                     : " was not run: ";
        fail_task(*task, {failure_->kind, failure_->rank,
                          is_the_cause ? failure_->message
                                       : concat(text, what, failure_->message)});
    }
}

// Ends the communication thread. kAfterQueue: when all started operations are done. kNow:
// immediately; queued operations are dropped.
void QueuedGroup::stop(const Failure& reason, When when) {
    const std::lock_guard stopping(stop_mutex_);
    if (!join_thread_) return;
    Tasks dropped;
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        notify_all(changed_);
        if (when == When::kNow) {
            if (!failure_) failure_ = reason;
            dropped = take_queued();
            if (running_ || !in_flight_.empty()) backend_->interrupt();
        }
    }
    for (const TaskHandle& task : dropped) observer_->failed(task->operation_id);
    fail_all(dropped);
    for (const TaskHandle& task : dropped) task->drop_tensors();  // these never started
    std::exchange(join_thread_, nullptr)();
    backend_->leave(reason);
    backend_->free_gpu();
}

// ---- GPU tensors that are not ready: the communication thread polls and never blocks on
// the device. Work on the device may never end, and only this thread checks deadlines.

// Posts to the backend the point-to-point messages whose tensors are ready.
void QueuedGroup::post_points() {
    for (const TaskHandle& task : take_ready_points()) {
        observer_->started(task->operation_id);
        backend_->post(task->message);
    }
    if (polls_ == 0) return;
    pause(polls_ - 1);
    backend_->wake();  // poll again
}

// Removes the ready messages from points_ and returns them; they are in flight from now on.
// A message may overtake an earlier message that is not ready, unless are_in_order().
QueuedGroup::Tasks QueuedGroup::take_ready_points() {
    const std::lock_guard lock(mutex_);
    Tasks ready, held;
    for (const TaskHandle& task : points_) {
        const bool is_next = std::ranges::none_of(held, [&](const TaskHandle& other) {
            return are_in_order(other->message, task->message);
        });
        (task->has_inputs() && is_next ? ready : held).push_back(task);
    }
    points_ = std::move(held);
    in_flight_.insert(ready.begin(), ready.end());  // so that fail() finds them
    for (const TaskHandle& task : points_) check_in_time(*task);
    polls_ = points_.empty() ? 0 : polls_ + 1;
    return ready;
}

// Throws Timeout if the deadline of a message has passed before the GPU reached the
// message's tensor. Returns if a GPU collective is late too: that collective is the
// likely cause, and the backend reports it.
void QueuedGroup::check_in_time(const Task& task) const {
    const Deadline deadline = task.message.deadline;
    if (!has_passed(deadline)) return;
    for (const TaskHandle& other : in_flight_)
        if (other->on_gpu() != nullptr && other->on_gpu()->deadline <= deadline) return;
    throw_late_inputs(task);
}

// Blocks until the inputs of the task are in host memory. Throws Timeout at the deadline,
// and Error if the group is destroyed.
void QueuedGroup::wait_for_inputs(const Task& task) {
    if (task.has_inputs()) return;
    const Deadline deadline = deadline_after(task.timeout);
    for (int polls = 0; !task.has_inputs(); ++polls) {
        if (has_passed(deadline)) throw_late_inputs(task);
        {
            const std::lock_guard lock(mutex_);
            MINI_CHECK(!failure_, "the group was destroyed during ", task.text());
        }
        pause(polls);
    }
}

void QueuedGroup::throw_late_inputs(const Task& task) const {
    throw Timeout(concat(
        "rank ", rank(), " waited ", seconds_text(task.timeout), " in ", task.text(),
        " for the GPU to reach its tensor: is an earlier kernel stuck?"));
}

}  // namespace mini::dist
