// VerifyingBackend: the base class of the backends over third-party libraries. Adds what
// these libraries lack: a check that all ranks call the same collective (otherwise Gloo
// aborts the process, and MPI adds up unrelated data), and errors that name the lost
// rank.
//
//     run     begin ---> fingerprints of all ranks agree ---> the library moves the data
//                          |                                    |
//               side channel: our own mesh; its connections close when a rank is lost
//
// Fingerprints: each rank sends every other rank the Collective that it is about to run,
// P-1 messages of 72 bytes, so that every rank can compare the collectives and can name a
// missing rank. If the library fails later, or waits for too long, a roll call over the
// side channel finds the ranks that do not reply. The side channel also carries the
// point-to-point messages of programs. TransportBackend needs no fingerprints: each of its
// messages carries its Collective.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libmini/distributed/group/backend.hpp"
#include "libmini/distributed/net/clock.hpp"
#include "libmini/distributed/net/hello.hpp"
#include "libmini/distributed/transport/tags.hpp"
#include "libmini/extras/backends/roll_call.hpp"

namespace mini::dist {

/// The side channel of a group, and what the side channels of its subgroups need.
struct SideChannel {
    std::unique_ptr<GroupTransport> transport;  // connects the ranks of the group

    /// If false, ranks send no fingerprints: a lost rank is detected, but mismatched
    /// collectives are not.
    bool verify = true;
    std::vector<int> hosts{};  // by rank; equal numbers mean the same host
    Cookie cookie{};
    std::string local_host{};  // an address of this host that the other ranks can reach
};

class VerifyingBackend : public Backend {
  public:
    explicit VerifyingBackend(SideChannel side);
    ~VerifyingBackend() override;

    int rank() const override { return side_.transport->rank(); }
    int world_size() const override { return side_.transport->world_size(); }
    void run(const Call& call, const Collective& collective,
             std::chrono::milliseconds timeout) final;
    void launch(GpuCollective& collective) final;
    void post(PointMessage& message) final;
    void progress() final;
    void wake() noexcept override { is_woken_ = true; }
    void set_on_wake(std::function<void()> on_wake) override;
    void set_note(const std::string& note) override { side_.transport->set_note(note); }
    uint64_t bytes_sent() const override { return 0; }
    uint64_t messages_sent() const override { return 0; }
    const char* last_algorithm() const override { return ""; }
    void leave(const Failure& reason) noexcept final;
    void interrupt() noexcept override { is_interrupted_ = true; }

  protected:
    /// Runs a collective that is a barrier or has tensors that are not empty; blocks
    /// until this rank's part is done, at most until the deadline. May throw any
    /// std::exception.
    virtual void transfer(const Call& call, Deadline deadline) = 0;

    /// Launches a collective on GPU memory, as Backend::launch does, after the
    /// fingerprints agree. The tensors may be empty. For backends with a GPU.
    virtual void issue(GpuCollective& /*collective*/) {}

    /// Calls finish() for the GPU collectives that the device has done; returns how many.
    /// Never blocks for long.
    virtual size_t finish_on_gpu() { return 0; }

    /// Stops using the library, after a regular end or a failure.
    virtual void abandon() noexcept = 0;

    /// Called when all ranks leave together, before abandon() and before the side channel
    /// closes.
    virtual void part() noexcept {}

    /// Calls `connect`, which connects the library to the other ranks. If it throws, tells
    /// the ranks that wait for this one, and rethrows.
    template <typename Connect>
    void connect_or_leave(const Connect& connect) {
        try {
            connect();
        } catch (const std::exception&) {
            has_failed_ = true;
            leave(current_failure());
            throw;
        }
    }

    /// As wait_until, for `timeout`. Throws as throw_silence does at the deadline.
    void wait_for_ranks(const std::function<bool()>& done,
                        std::chrono::milliseconds timeout, const std::string& activity);

    /// Blocks until done() is true, and makes progress on point-to-point messages
    /// meanwhile. Throws PeerLost as soon as a rank is lost, Timeout at the deadline.
    template <typename Done>
    void wait_until(const Done& done, Deadline deadline) {
        for (int polls = 0; !done(); ++polls) {
            poll_once(deadline);
            pause(polls);
        }
    }

    /// Makes one iteration of wait_until and throws as wait_until does; returns how many
    /// messages and GPU collectives have finished.
    size_t poll_once(Deadline deadline);

    /// Replies to the roll call of other ranks. For a loop in which this rank cleans up
    /// after a failure.
    void answer_roll_call() noexcept;

    /// Makes a roll call. Throws PeerLost if a rank is lost; otherwise Timeout that names
    /// the ranks that do not reply: "rank 0 waited 2 s <activity>; rank 1 is silent ...".
    [[noreturn]] void throw_silence(std::chrono::milliseconds waited,
                                    const std::string& activity);

    /// Makes a roll call after an error of the library. Throws PeerLost if a rank is
    /// lost; Timeout that names the silent ranks, if any; otherwise Error with the
    /// library's message: "<activity> failed in nccl: ...; all ranks replied".
    [[noreturn]] void throw_library_failure(const std::string& activity,
                                            const std::string& message);

    /// Returns whether the backend has failed or was interrupted; if so, all operations
    /// fail.
    bool has_failed() const { return has_failed_ || is_interrupted_; }

    const SideChannel& side() const { return side_; }

    /// Connects the side channel of a subgroup, for split(): see connect_members.
    std::optional<SideChannel> side_of(const std::vector<int>& ranks,
                                       ProcessGroup& parent) const;

    /// Posts a note over the side channel.
    void post_note(PointMessage& note, PointMessage::Direction direction, int peer,
                   uint64_t tag) {
        dist::post_note(*side_.transport, note, direction, peer, tag);
    }

  private:
    struct Fingerprint {
        Collective collective;
        PointMessage message;
    };

    // The last message to another rank, and the last message from that rank.
    struct Goodbye {
        PointMessage say, hear;
    };

    template <typename Visit>
    void each_peer(const Visit& visit) const;
    template <typename Body>
    void guard(const Collective& collective, std::chrono::milliseconds timeout,
               const Body& body);
    void agree(const Collective& collective, Deadline deadline);
    bool have_fingerprints_arrived() const;
    [[noreturn]] void throw_left(int peer) const;
    void poll_side();
    size_t finish_messages();
    std::vector<int> silent_ranks(std::chrono::milliseconds waited);
    bool say_goodbye();

    const SideChannel side_;
    Collective current_;
    std::chrono::milliseconds timeout_{};
    std::vector<Fingerprint> sent_, received_;  // by rank
    std::vector<Goodbye> goodbyes_;             // by rank
    RollCall roll_call_;
    std::list<PointMessage*> messages_;  // in flight
    size_t finished_messages_ = 0;       // since the last poll
    std::function<void()> on_wake_;
    std::atomic<bool> is_woken_ = false;
    std::atomic<bool> is_interrupted_ = false;
    bool is_side_broken_ = false;  // the side channel's poll() has thrown
    bool has_failed_ = false;
    bool has_left_ = false;
};

}  // namespace mini::dist
