// VerifyingBackend: what all backends over other people's libraries have in common, and
// what those libraries lack: they neither notice that ranks call different things (Gloo
// then aborts the process, MPI adds up what does not belong together) nor say which rank
// is gone.
//
//     run     begin ---> fingerprints of all ranks agree ---> the library moves the data
//                          |                                    |
//               side channel: our own mesh, whose connections close when a rank is gone
//
// Messages whose tags the library does not have go over the side channel too.
//
// Each rank sends every other one the Collective it is about to run: P-1 messages of 40
// bytes, so all ranks see what each one runs, and can name a rank that is missing.
// When the library fails later, or waits for too long, a roll call over the side channel
// finds the ranks that do not answer.
//
// TransportBackend needs none of this: each of its messages carries its Collective.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libmini/distributed/backends/roll_call.hpp"
#include "libmini/distributed/group/backend.hpp"
#include "libmini/distributed/net/clock.hpp"
#include "libmini/distributed/transport/tags.hpp"

namespace mini::dist {

class VerifyingBackend : public Backend {
  public:
    /// `side` connects the same ranks. With `verify` off ranks that call different things
    /// are not noticed; a rank that is gone still is.
    VerifyingBackend(std::unique_ptr<GroupTransport> side, bool verify);
    ~VerifyingBackend() override;

    int rank() const override { return side_->rank(); }
    int world_size() const override { return side_->world_size(); }
    void run(const Call& call, const Collective& collective,
             std::chrono::milliseconds timeout) final;
    void launch(GpuCollective& collective) final;
    void post(PointMessage& message) final;
    void progress() final;
    void wake() noexcept override { is_woken_ = true; }
    void set_on_wake(std::function<void()> on_wake) override;
    uint64_t bytes_sent() const override { return 0; }
    uint64_t messages_sent() const override { return 0; }
    const char* last_algorithm() const override { return ""; }
    void leave(const Failure& reason) noexcept final;
    void interrupt() noexcept override { is_interrupted_ = true; }

  protected:
    /// Runs the collective, whose tensors are not empty (but for a barrier), until the
    /// deadline; may throw any std::exception.
    virtual void transfer(const Call& call, Deadline deadline) = 0;

    /// Puts a collective of the GPU's memory into a stream, if it is not empty. For
    /// backends with a GPU.
    virtual void issue(GpuCollective& /*collective*/) {}

    /// The largest tag of a message that the library carries, if it carries any.
    virtual std::optional<uint64_t> largest_tag() const = 0;

    /// Gives a message to the library.
    virtual void post_to_library(PointMessage& /*message*/) {}

    /// Moves on the messages that the library carries and what is on the GPU; how many
    /// became done. Never blocks for long.
    virtual size_t move_points() = 0;

    /// Ends the use of the library, in order or after a failure.
    virtual void abandon() noexcept = 0;

    /// Comes before, and before the side channel ends, when all ranks leave and know it
    /// of each other.
    virtual void part() noexcept {}

    /// Blocks until done(), while messages from point to point move on. Throws PeerLost
    /// as soon as a rank is gone, Timeout at the deadline.
    template <typename Done>
    void wait_until(const Done& done, Deadline deadline) {
        for (int turns = 0; !done(); ++turns) {
            turn(deadline);
            pause(turns);
        }
    }

    /// Finishes those of `transfers`, messages that the library carries, for which
    /// is_done(transfer) says so; how many. Throws as throw_silence for one whose deadline
    /// has passed.
    template <typename Transfer, typename IsDone>
    size_t finish_done(std::list<Transfer>& transfers, const IsDone& is_done) {
        size_t finished = 0;
        for (auto place = transfers.begin(); place != transfers.end();) {
            PointMessage& message = *place->message;
            if (is_done(*place)) {
                place = transfers.erase(place);
                ++finished;
                finish(message);
                continue;
            }
            if (has_passed(message.deadline)) throw_silence(message);
            ++place;
        }
        return finished;
    }

    /// One turn of such a wait; throws as it does. How many messages became done.
    size_t turn(Deadline deadline);

    /// Answers the roll call of other ranks while this rank clears up after a failure.
    void attend() noexcept;

    /// Throws Timeout naming the ranks that do not answer, PeerLost when one is gone:
    /// "rank 0 waited 2 s <activity>; rank 1 is silent ...".
    [[noreturn]] void throw_silence(std::chrono::milliseconds waited,
                                    const std::string& activity);
    [[noreturn]] void throw_silence(const PointMessage& message);

    /// Throws Error with what the library said, and the ranks that do not answer,
    /// PeerLost when one is gone: "<activity> failed in nccl: ...; all ranks are there".
    [[noreturn]] void throw_library_failure(const std::string& activity,
                                            const std::string& message);

    /// Whether something has gone wrong: no operation works any more.
    bool has_failed() const { return has_failed_ || is_interrupted_; }

    GroupTransport& side() { return *side_; }
    bool verifies() const { return verify_; }

    /// Posts a note over the side channel.
    void post_note(PointMessage& note, PointMessage::Direction direction, int peer,
                   uint64_t tag) {
        dist::post_note(*side_, note, direction, peer, tag);
    }

  private:
    struct Fingerprint {
        Collective collective;
        PointMessage message;
    };

    // The last words to another rank, and its own.
    struct Goodbye {
        PointMessage say, hear;
    };

    template <typename Visit>
    void each_peer(const Visit& visit) const;
    template <typename Body>
    void guard(const Collective& collective, std::chrono::milliseconds timeout,
               const Body& body);
    void agree(const Collective& collective, Deadline deadline);
    [[noreturn]] void throw_left(int peer) const;
    void poll_side();
    size_t finish_on_side();
    std::vector<int> silent_ranks(std::chrono::milliseconds waited);
    bool say_goodbye();

    const std::unique_ptr<GroupTransport> side_;
    const bool verify_;
    Collective current_;
    std::chrono::milliseconds timeout_{};
    std::vector<Fingerprint> sent_, received_;  // by rank
    std::vector<Goodbye> goodbyes_;             // by rank
    RollCall roll_call_;
    std::list<PointMessage*> on_side_;  // messages of the group that are not done
    size_t finished_on_side_ = 0;       // since the last turn
    std::function<void()> on_wake_;
    std::atomic<bool> is_woken_ = false;
    std::atomic<bool> is_interrupted_ = false;
    bool is_side_broken_ = false;  // and of no further use
    bool has_failed_ = false;
    bool has_left_ = false;
};

}  // namespace mini::dist
