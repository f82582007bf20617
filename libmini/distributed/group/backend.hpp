// Backend: carries out the operations of a group, one collective at a time, on one
// thread at a time (`c10d::Backend` without its queue, which is in QueuedGroup).
//
//     QueuedGroup     checks, numbers and queues calls; one communication thread
//     ------------------------------- Backend -------------------------------
//     TransportBackend (our algorithms)     GlooBackend     MpiBackend

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/distributed/group/call.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

class ProcessGroup;

/// A collective on the memory of the backend's GPU (extras/backends/nccl_collective.hpp).
/// The backend uses it from launch() until it calls finish().
class GpuCollective {
  public:
    virtual ~GpuCollective() = default;

    /// Takes the collective's place in the order in which this rank launches collectives.
    virtual void take_turn() = 0;

    /// Gives up this place, because the collective will not be launched.
    virtual void give_up_turn() noexcept = 0;

    /// Makes the calling thread's current stream wait for the results; does not block.
    /// REQUIRES: the collective was launched.
    virtual void wait_on_stream() const = 0;

    // Set before launch().
    const Call* call = nullptr;  // contiguous tensors, all on the backend's GPU
    Collective collective;
    std::chrono::milliseconds timeout{};
    Deadline deadline;

    /// Called on the communication thread after the device is done and the backend no
    /// longer uses this object.
    std::function<void()> finished;
};

/// Completes a collective: calls `finished`, which may hold the last reference to
/// `collective`.
inline void finish(GpuCollective& collective) {
    const auto finished = std::exchange(collective.finished, nullptr);
    if (finished) finished();
}

// After a function has thrown, only leave() and free_gpu() may be called.
class Backend {
  public:
    virtual ~Backend() = default;

    virtual std::string name() const = 0;
    virtual int rank() const = 0;
    virtual int world_size() const = 0;

    /// Carries out a collective; blocks until this rank's part is done. Throws PeerLost,
    /// Timeout and MismatchedCollective as Transport does. REQUIRES: `call` has passed
    /// collective_of, and its tensors are contiguous; `collective.sequence` is set.
    virtual void run(const Call& call, const Collective& collective,
                     std::chrono::milliseconds timeout) = 0;

    /// Returns the collective for `call`, if the backend moves the memory of its GPU
    /// itself: it runs after the work that is in the calling thread's current stream now.
    /// Returns null if the backend needs host copies of GPU tensors. Thread-safe. Throws
    /// Error if the tensors are on another GPU. REQUIRES: the tensors are on a GPU, and
    /// `call` is not point-to-point: messages are always in host memory.
    virtual std::unique_ptr<GpuCollective> on_gpu(const Call& /*call*/) {
        return nullptr;
    }

    /// Launches a result of on_gpu() in the backend's stream. Blocks until the collective
    /// is in the stream, which may be long before the device is done. A later wait or
    /// progress() calls finish(collective) when the device is done, or throws the
    /// device's error; `collective` must live until then. Throws as run() does.
    virtual void launch(GpuCollective& /*collective*/) {}

    /// Point-to-point messages: the same functions as in GroupTransport.
    virtual void post(PointMessage& message) = 0;
    virtual void progress() = 0;  // also returns when a launched collective is done
    virtual void wake() noexcept = 0;
    virtual void set_on_wake(std::function<void()> on_wake) = 0;

    /// As GroupTransport::set_note.
    virtual void set_note(const std::string& /*note*/) {}

    /// Returns the number of payload bytes that this rank has sent; 0 if the backend does
    /// not count them.
    virtual uint64_t bytes_sent() const = 0;

    /// Returns the number of messages that this rank has sent; 0 if the backend does not
    /// count them.
    virtual uint64_t messages_sent() const = 0;

    /// Returns the algorithm of the last all_reduce, a string literal; "" if unknown.
    virtual const char* last_algorithm() const = 0;

    /// Creates the backend of a subgroup: `ranks` of `parent` (the group that uses this
    /// backend), in the given order. Returns null on ranks that are not in `ranks`. Every
    /// rank of `parent` must call split(); blocks until all have. Throws NotImplemented
    /// if this backend has no subgroups.
    virtual std::unique_ptr<Backend> split(const std::vector<int>& /*ranks*/,
                                           ProcessGroup& /*parent*/) {
        throw NotImplemented("backend ", name(), " has no subgroups");
    }

    /// Leaves the group and reports `reason` to the other ranks, if possible; blocks for
    /// at most a few seconds.
    virtual void leave(const Failure& reason) noexcept = 0;

    /// Frees the GPU resources after leave(). May block until the device is done.
    virtual void free_gpu() noexcept {}

    /// Makes the current operation and all later operations throw. Thread-safe.
    virtual void interrupt() noexcept = 0;
};

}  // namespace mini::dist
