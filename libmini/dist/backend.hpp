// Backend: what carries out the operations of a group, one collective at a time, on one
// thread (`c10d::Backend`, less its queue, which QueuedGroup has).
//
//     QueuedGroup     checks, numbers and queues calls; one communication thread
//     ------------------------------- Backend -------------------------------
//     TransportBackend (our algorithms)     GlooBackend     MpiBackend

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "libmini/dist/call.hpp"
#include "libmini/dist/transport.hpp"

namespace mini::dist {

class ProcessGroup;

// After a function has thrown, the backend is of no further use but for leave().
class Backend {
  public:
    virtual ~Backend() = default;

    virtual std::string name() const = 0;
    virtual int rank() const = 0;
    virtual int world_size() const = 0;

    /// Carries out a collective; blocks until this rank's part is done. `call` has passed
    /// collective_of, and its tensors are contiguous; `collective` has its number. Throws
    /// PeerLost, Timeout and MismatchedCollective as Transport does.
    virtual void run(const Call& call, const Collective& collective,
                     std::chrono::milliseconds timeout) = 0;

    /// Messages from point to point, as Transport has them.
    virtual void post(PointMessage& message) = 0;
    virtual void progress() = 0;
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

    /// Makes what is under way throw, and all that follows; safe from any thread.
    virtual void interrupt() noexcept = 0;
};

}  // namespace mini::dist
