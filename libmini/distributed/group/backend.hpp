// Backend: what carries out the operations of a group, one collective at a time, on one
// thread (`c10d::Backend`, less its queue, which QueuedGroup has).
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

#include "libmini/distributed/group/call.hpp"
#include "libmini/distributed/group/gpu_order.hpp"
#include "libmini/distributed/group/gpu_turn.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

class ProcessGroup;

/// A collective on a GPU's memory under way: handed to the backend and back when done.
struct GpuCollective {
    const Call* call = nullptr;  // contiguous tensors, all on the backend's GPU
    Collective collective;
    std::chrono::milliseconds timeout{};
    Deadline deadline;
    std::unique_ptr<GpuOrder> order;
    std::unique_ptr<GpuTurn> turn;  // until it is launched

    /// Called on the backend's thread when the device is done and the backend has let it
    /// go.
    std::function<void()> finished;
};

/// Ends a collective that is done: calls `finished`, which may hold the last reference to
/// it.
inline void finish(GpuCollective& collective) {
    const auto finished = std::exchange(collective.finished, nullptr);
    if (finished) finished();
}

// After a function has thrown, the backend is of no further use but for leave().
class Backend {
  public:
    virtual ~Backend() = default;

    virtual std::string name() const = 0;
    virtual int rank() const = 0;
    virtual int world_size() const = 0;

    /// The GPU whose memory it moves itself; -1 for none: it gets the host's copies.
    /// Messages from point to point are the host's memory in any case.
    virtual int gpu() const { return -1; }
    bool takes_cuda() const { return gpu() >= 0; }

    /// Carries out a collective; blocks until this rank's part is done. `call` has passed
    /// collective_of, and its tensors are contiguous; `collective` has its number. Throws
    /// PeerLost, Timeout and MismatchedCollective as Transport does.
    virtual void run(const Call& call, const Collective& collective,
                     std::chrono::milliseconds timeout) = 0;

    /// Puts a collective on the GPU's memory into a stream, between the two ends of its
    /// order; blocks until it is there, which may be long before the device is done. That
    /// is noticed whenever the backend waits, or in progress(), which both throw what
    /// goes wrong on the device; it lives until then. Throws as run does. REQUIRES:
    /// takes_cuda().
    virtual void launch(GpuCollective& collective);

    /// Messages from point to point, as Transport has them.
    virtual void post(PointMessage& message) = 0;
    virtual void progress() = 0;  // comes back for a collective of launch() too
    virtual void wake() noexcept = 0;
    virtual void set_on_wake(std::function<void()> on_wake) = 0;

    /// Since the start, as far as the backend can tell: payload bytes sent by this rank,
    /// and messages; 0 where a library keeps it to itself.
    virtual uint64_t bytes_sent() const = 0;
    virtual uint64_t messages_sent() const = 0;

    /// The algorithm that the last all_reduce ran; a literal, "" when unknown.
    virtual const char* last_algorithm() const = 0;

    /// The backend among some ranks of `parent`, which is the group over this one, in
    /// their order; null on the others. Called on every rank. Throws NotImplemented when
    /// this backend has no subgroups.
    virtual std::unique_ptr<Backend> split(const std::vector<int>& ranks,
                                           ProcessGroup& parent);

    /// Leaves the group and tells the other ranks why, as far as it can; never blocks for
    /// long.
    virtual void leave(const Failure& reason) noexcept = 0;

    /// Frees what it has on the GPU after leave(), which may take as long as the device
    /// does.
    virtual void let_go() noexcept {}

    /// Makes what is under way throw, and all that follows; safe from any thread.
    virtual void interrupt() noexcept = 0;
};

}  // namespace mini::dist
