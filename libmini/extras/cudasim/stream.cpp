#include "libmini/extras/cudasim/stream.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>

#include "libmini/extras/cudasim/block.hpp"
#include "libmini/extras/cudasim/hooks.hpp"
#include "libmini/extras/cudasim/memory.hpp"

namespace mini::sim {
namespace {

// How long a query waits for a host function that the query has started.
constexpr std::chrono::milliseconds kHostFunctionTime(200);

std::atomic<uint64_t> contexts = 0;  // bit i: the context of device i is open

// Returns an error message, empty on success.
std::string perform(const Operation& operation) {
    void* const to = operation.to;
    switch (operation.kind) {
        case OperationKind::kKernel: return run_grid(*operation.launch);
        case OperationKind::kCopy:
            std::memmove(to, operation.staged ? operation.staged->data() : operation.from,
                         operation.bytes);
            break;
        case OperationKind::kFill:
            std::memset(to, operation.value, operation.bytes);
            break;
        case OperationKind::kHostFunction: operation.function(operation.data); break;
        case OperationKind::kMarker: break;
    }
    return {};
}

// Makes an operation depend on an earlier one, which may be null.
void come_after(Operation& operation, const OperationPointer& earlier) {
    if (earlier == nullptr) return;
    join(operation.clock, earlier->clock);
    if (!earlier->done) operation.after.push_back(earlier);
}

}  // namespace

Machine& Machine::instance() {
    static auto* const machine = new Machine;
    return *machine;
}

Machine::Machine() : host_clock_(1) {
    for (int device = 0; device < device_count(); ++device) {
        create_stream(device, false)->legacy = true;
        faults_.emplace_back();
    }
}

Stream* Machine::create_stream(int device, bool blocking) {
    auto stream = std::make_unique<Stream>();
    stream->device = device;
    stream->blocking = blocking;
    stream->timeline = ++last_timeline_;
    return streams_.emplace_back(std::move(stream)).get();
}

void Machine::destroy_stream(Stream* stream) {
    stream->destroyed = true;
    forget_if_over(stream);
}

// Removes a destroyed stream once its work is done.
void Machine::forget_if_over(Stream* stream) {
    if (!stream->destroyed || !stream->queue.empty()) return;
    std::erase_if(streams_, [&](const auto& each) { return each.get() == stream; });
}

bool Machine::knows(const Stream* stream) const {
    return std::ranges::any_of(streams_, [&](const auto& each) {
        return each.get() == stream && !each->destroyed;
    });
}

void Machine::submit(Lock& lock, Stream* stream, Operation given,
                     const OperationPointer& after) {
    if (stream->queue.size() >= kLongestQueue) run_until(lock, stream->queue.front());

    const auto operation = std::make_shared<Operation>(std::move(given));
    operation->stream = stream;
    operation->device = stream->device;

    // Collect the operation's dependencies: its stream, the host, `after`, and the legacy
    // default stream.
    ++host_clock_[0];
    Clock& clock = operation->clock = stream->clock;
    join(clock, host_clock_);
    come_after(*operation, after);
    if (stream->blocking) come_after(*operation, legacy_stream(stream->device)->last);
    if (stream->legacy)
        for (const auto& each : streams_)
            if (each->blocking && each->device == stream->device)
                come_after(*operation, each->last);
    operation->stamp = {stream->timeline, ++stream->count};
    if (clock.size() <= stream->timeline) clock.resize(stream->timeline + 1);
    clock[stream->timeline] = stream->count;

    stream->clock = clock;
    stream->queue.push_back(operation);
    stream->last = operation;
    if (is_inspected()) tell::operation_given(*operation);
}

// Runs the operations that `operation` depends on, sharing the work with other waiting
// threads, until it is done.
void Machine::run_until(Lock& lock, const OperationPointer& operation) {
    const OperationPointer goal = operation;  // outlives the caller's handle
    while (!goal->done) {
        Operation* const next = ready_before(*goal);
        if (next != nullptr) {
            run(lock, *next);
        } else {
            changed_.wait(lock);
        }
    }
}

// Returns the next operation to run so that `goal` completes; null if another thread is
// running it.
Operation* Machine::ready_before(const Operation& goal) {
    for (const Operation* wanted = &goal;;) {
        const Stream& stream = *wanted->stream;
        if (stream.running) return nullptr;
        Operation& first = *stream.queue.front();
        const auto missing =
            std::find_if(first.after.begin(), first.after.end(),
                         [](const OperationPointer& each) { return !each->done; });
        if (missing == first.after.end()) return &first;
        wanted = missing->get();
    }
}

void Machine::run(Lock& lock, Operation& operation) {
    Stream* const stream = operation.stream;
    const OperationPointer self =
        stream->queue.front();  // keeps `operation` alive after pop_front()
    stream->running = true;
    std::string error;
    if (fault(stream->device).empty()) {
        lock.unlock();
        if (is_inspected()) tell::operation_begins(operation);
        error = perform(operation);
        if (is_inspected()) tell::operation_ends(operation);
        lock.lock();
    }
    if (fault(stream->device).empty()) fault(stream->device) = error;

    operation.done = true;
    operation.finished = std::chrono::steady_clock::now();
    operation.after.clear();
    operation.launch = nullptr;
    operation.staged = nullptr;
    stream->queue.pop_front();
    stream->running = false;
    forget_if_over(stream);
    changed_.notify_all();
}

void Machine::host_comes_after(const OperationPointer& operation) {
    join(host_clock_, operation->clock);
    if (is_inspected()) tell::host_waited(host_clock_);
}

cudaError_t Machine::wait(Lock& lock, const OperationPointer& operation, int device) {
    if (const OperationPointer goal = operation) {
        run_until(lock, goal);
        host_comes_after(goal);
    }
    return error(device);
}

void Machine::wait_device(Lock& lock, int device, bool counts) {
    std::vector<OperationPointer> all;
    for (const auto& each : streams_)
        if (each->device == device && each->last != nullptr) all.push_back(each->last);
    for (const OperationPointer& each : all)
        counts ? static_cast<void>(wait(lock, each, device)) : run_until(lock, each);
}

cudaError_t Machine::query(Lock& lock, const OperationPointer& operation, int device) {
    if (operation == nullptr || operation->done) return wait(lock, operation, device);
    Operation* const next = ready_before(*operation);
    if (next != nullptr && next->kind == OperationKind::kHostFunction)
        run_elsewhere(lock, next->stream->queue.front());
    else if (next != nullptr)
        run(lock, *next);
    return error(device) == cudaSuccess ? cudaErrorNotReady : error(device);
}

// Runs a host function on its own thread, as CUDA does, since the function may wait for
// the querying thread. Returns when the function is done, or after kHostFunctionTime.
// `operation` is passed by value, because run() removes the pointer from the queue.
void Machine::run_elsewhere(Lock& lock, OperationPointer operation) {
    operation->stream->running = true;  // no other thread begins it
    std::thread([this, operation] {
        Lock other = this->lock();
        run(other, *operation);
    }).detach();
    changed_.wait_for(lock, kHostFunctionTime, [&] { return operation->done; });
}

HostThread& host_thread() {
    thread_local HostThread mine;
    return mine;
}

std::unique_lock<std::mutex> lock_objects() {
    static auto* const mutex = new std::mutex;  // threads may outlive main
    return std::unique_lock(*mutex);
}

void open_context() { contexts |= uint64_t{1} << host_thread().device; }

bool has_context(int device) { return (contexts >> device & 1) != 0; }

int current_device() {
    open_context();
    return host_thread().device;
}

cudaError_t report(cudaError_t error, const std::string& explanation) {
    if (error == cudaSuccess) return error;
    HostThread& thread = host_thread();
    thread.last_error = thread.explained = error;
    thread.explanation = explanation;
    return error;
}

StreamCall::StreamCall(cudaStream_t handle) {
    open_context();
    if (device_count() == 0) {
        error = cudaErrorNoDevice;
        return;
    }
    stream = handle == nullptr ? machine.legacy_stream(current_device())
                               : reinterpret_cast<Stream*>(handle);
    error = machine.knows(stream) ? machine.error(stream->device)
                                  : cudaErrorInvalidResourceHandle;
}

cudaError_t StreamCall::give(Operation operation, const OperationPointer& after) {
    if (error == cudaSuccess) machine.submit(lock, stream, std::move(operation), after);
    return error;
}

cudaError_t StreamCall::wait(decltype(&Machine::wait) action) {
    if (error != cudaSuccess) return error;
    return (machine.*action)(lock, stream->last, stream->device);
}

}  // namespace mini::sim
