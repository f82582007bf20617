#include "libmini/dist/transport_group.hpp"

#include <cstring>

#include "libmini/core/log.hpp"
#include "libmini/dist/algorithms/dissemination_barrier.hpp"
#include "libmini/dist/algorithms/ring_all_gather.hpp"
#include "libmini/dist/algorithms/ring_all_reduce.hpp"
#include "libmini/dist/algorithms/tree_broadcast.hpp"

namespace mini::dist {
namespace {

void all_reduce_any(Transport& transport, Tensor& tensor, ReduceOp op) {
    switch (tensor.dtype()) {
        case DType::kFloat32: return ring_all_reduce(transport, tensor.span<float>(), op);
        case DType::kInt64: return ring_all_reduce(transport, tensor.span<int64_t>(), op);
        case DType::kUInt8: return ring_all_reduce(transport, tensor.span<uint8_t>(), op);
    }
}

std::span<std::byte> bytes_of(const Tensor& tensor) {
    return {tensor.raw_data(), tensor.bytes()};
}

void gather_tensors(Transport& transport, const std::vector<Tensor>& outputs,
                    const Tensor& input) {
    std::vector<std::span<std::byte>> blocks;
    for (const Tensor& output : outputs) blocks.push_back(bytes_of(output));
    const std::span<std::byte> own = blocks[static_cast<size_t>(transport.rank())];
    if (!own.empty()) std::memmove(own.data(), input.raw_data(), own.size());
    ring_all_gather(transport, blocks);
}

}  // namespace

// One queued operation, and the Work that its caller holds.
struct TransportGroup::Task : Work {
    Collective collective;
    size_t payload_bytes = 0;
    std::function<void()> body;

    bool is_completed() const override {
        const std::lock_guard lock(mutex);
        return done;
    }

    void wait() override {
        std::unique_lock lock(mutex);
        finished.wait(lock,
                      [this] { return done; });  // it ends: every task has a deadline
        if (failure) throw_failure(*failure);
    }

    void finish(std::optional<Failure> result) {
        body = nullptr;  // lets go of the tensors first
        const std::lock_guard lock(mutex);
        failure = std::move(result);
        done = true;
        finished.notify_all();
    }

    mutable std::mutex mutex;
    std::condition_variable finished;
    bool done = false;
    std::optional<Failure> failure;
};

TransportGroup::TransportGroup(std::string backend, std::unique_ptr<Transport> transport,
                               std::chrono::milliseconds timeout)
    : backend_(std::move(backend)), transport_(std::move(transport)), timeout_(timeout) {
    thread_ = std::thread([this] { run(); });
}

TransportGroup::~TransportGroup() {
    stop(
        {Failure::Kind::kPeerLost, rank(), concat("rank ", rank(), " dropped its group")},
        When::kNow);
}

void TransportGroup::shutdown() {
    stop({Failure::Kind::kPeerLost, rank(), concat("rank ", rank(), " left the group")},
         When::kAfterQueue);
}

void TransportGroup::abandon(const std::string& reason) {
    stop({Failure::Kind::kOther, rank(), reason}, When::kNow);
}

// ---- the operations

std::shared_ptr<Work> TransportGroup::all_reduce_async(Tensor tensor, ReduceOp op) {
    check_tensor("all_reduce", tensor);
    MINI_CHECK(op != ReduceOp::kAvg || tensor.dtype() == DType::kFloat32,
               "all_reduce: kAvg needs float32, but the tensor is ", tensor.dtype());
    tensor.bump_version();
    const Collective collective{.operation = Operation::kAllReduce,
                                .dtype = tensor.dtype(),
                                .reduce_op = op,
                                .count = static_cast<uint64_t>(tensor.numel())};
    const size_t bytes = tensor.bytes();
    return enqueue(collective, bytes, [this, tensor, op]() mutable {
        all_reduce_any(*transport_, tensor, op);
    });
}

std::shared_ptr<Work> TransportGroup::broadcast_async(Tensor tensor, int root) {
    check_tensor("broadcast", tensor);
    MINI_CHECK(root >= 0 && root < world_size(), "broadcast: root is ", root,
               " but the world size is ", world_size());
    tensor.bump_version();
    const Collective collective{.operation = Operation::kBroadcast,
                                .dtype = tensor.dtype(),
                                .root = root,
                                .count = static_cast<uint64_t>(tensor.numel())};
    const size_t bytes = tensor.bytes();
    return enqueue(collective, bytes, [this, tensor, root] {
        tree_broadcast(*transport_, bytes_of(tensor), root);
    });
}

std::shared_ptr<Work> TransportGroup::all_gather_async(std::vector<Tensor> outputs,
                                                       Tensor input) {
    check_tensor("all_gather", input);
    MINI_CHECK(outputs.size() == static_cast<size_t>(world_size()),
               "all_gather: ", outputs.size(), " outputs for ", world_size(),
               " ranks; there must be one each");
    for (Tensor& output : outputs) {
        check_tensor("all_gather", output);
        check_shape(output.shape() == input.shape() && output.dtype() == input.dtype(),
                    "all_gather: an output is ", output.shape(), " of ", output.dtype(),
                    " but the input is ", input.shape(), " of ", input.dtype());
        output.bump_version();
    }
    const Collective collective{.operation = Operation::kAllGather,
                                .dtype = input.dtype(),
                                .count = static_cast<uint64_t>(input.numel())};
    const size_t bytes = input.bytes();
    return enqueue(collective, bytes, [this, outputs = std::move(outputs), input] {
        gather_tensors(*transport_, outputs, input);
    });
}

std::shared_ptr<Work> TransportGroup::barrier_async() {
    return enqueue({.operation = Operation::kBarrier}, 0,
                   [this] { dissemination_barrier(*transport_); });
}

void TransportGroup::check_tensor(const char* operation, const Tensor& tensor) const {
    MINI_CHECK(tensor.defined(), operation, ": the tensor is undefined");
    MINI_CHECK(tensor.device().is_cpu(), operation, ": the tensor is on ",
               tensor.device(), "; backend ", backend_, " needs it on the CPU");
    MINI_CHECK(tensor.is_contiguous(), operation, ": a tensor of shape ", tensor.shape(),
               " and strides ", tensor.strides(),
               " is not contiguous; call contiguous() first");
}

// ---- the queue

std::shared_ptr<Work> TransportGroup::enqueue(Collective collective, size_t payload_bytes,
                                              std::function<void()> body) {
    auto task = std::make_shared<Task>();
    task->payload_bytes = payload_bytes;
    task->body = std::move(body);

    const std::lock_guard lock(mutex_);
    const char* name = operation_name(collective.operation);
    if (failure_)
        throw_failure({failure_->kind, failure_->rank,
                       concat(name, ": the group is broken since: ", failure_->message)});
    MINI_CHECK(!closing_, name, ": the group has been shut down");
    collective.sequence = next_sequence_++;
    task->collective = collective;
    queue_.push_back(task);
    changed_.notify_one();
    return task;
}

void TransportGroup::run() {
    logging::set_rank(rank());
    while (const std::shared_ptr<Task> task = next_task()) execute(*task);
}

// The next operation; null when the group is closing and nothing is left.
std::shared_ptr<TransportGroup::Task> TransportGroup::next_task() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closing_ || !queue_.empty(); });
    if (queue_.empty()) return nullptr;
    std::shared_ptr<Task> task = std::move(queue_.front());
    queue_.pop_front();
    running_ = true;
    return task;
}

void TransportGroup::execute(Task& task) {
    const Collective& collective = task.collective;
    const char* name = operation_name(collective.operation);
    const auto sequence = static_cast<int64_t>(collective.sequence);
    const uint64_t sent_before = transport_->bytes_sent();
    try {
        events_.record(EventKind::kCollectiveBegin, sequence,
                       static_cast<int64_t>(task.payload_bytes), name);
        transport_->begin(collective, timeout_);
        task.body();
        events_.record(EventKind::kCollectiveEnd, sequence,
                       static_cast<int64_t>(transport_->bytes_sent() - sent_before),
                       name);
        finish(task, std::nullopt);
    } catch (...) {
        finish(task, current_failure());
    }
}

// Ends an operation; a failure also ends everything that is queued, and tells the other
// ranks.
void TransportGroup::finish(Task& task, std::optional<Failure> failure) {
    std::deque<std::shared_ptr<Task>> abandoned;
    {
        const std::lock_guard lock(mutex_);
        running_ = false;
        if (failure && !failure_) failure_ = failure;
        if (failure) abandoned.swap(queue_);
    }
    // Tell the other ranks first: who waits for the task may end the process.
    if (failure) transport_->leave(*failure_);  // failure_ does not change any more
    task.finish(failure);
    abandon_tasks(abandoned);
}

void TransportGroup::abandon_tasks(const std::deque<std::shared_ptr<Task>>& tasks) const {
    for (const auto& task : tasks)
        task->finish(Failure{
            failure_->kind, failure_->rank,
            concat(describe(task->collective), " was not run: ", failure_->message)});
}

// Ends the communication thread: after what is queued, or, to drop it, at once.
void TransportGroup::stop(const Failure& reason, When when) {
    const std::lock_guard stopping(stop_mutex_);
    if (!thread_.joinable()) return;
    std::deque<std::shared_ptr<Task>> abandoned;
    bool must_interrupt = false;
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
        must_interrupt = when == When::kNow && running_;
        if (when == When::kNow && !failure_) failure_ = reason;
        if (when == When::kNow) abandoned.swap(queue_);
        changed_.notify_one();
    }
    abandon_tasks(abandoned);
    if (must_interrupt) transport_->interrupt();
    thread_.join();
    transport_->leave(reason);
}

}  // namespace mini::dist
