// The transport over a full mesh: a channel to every other rank.
//
//     MeshTransport     sends messages; waits for sends and receives
//       MessageStream   one connection: queues messages, full duplex
//       Inbox           matches incoming messages with receives
//       FailureDetector finds the rank that caused a failure
//
// Whenever this rank waits, all its messages make progress: those of the collective, and
// the point-to-point messages posted before or during the wait.
//
// A wait first spins for a moment: it checks for progress and yields its core. Then it
// sleeps in poll. If the other rank is ready, its message arrives within microseconds,
// sooner than a sleeping thread wakes up.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libmini/distributed/net/event.hpp"
#include "libmini/distributed/transport/failure_detector.hpp"
#include "libmini/distributed/transport/inbox.hpp"
#include "libmini/distributed/transport/message_stream.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

class MeshTransport : public GroupTransport {
  public:
    /// `streams` is indexed by rank. REQUIRES: all streams are open except this rank's
    /// own.
    MeshTransport(int rank, std::vector<MessageStream> streams);

    int rank() const override { return rank_; }
    int world_size() const override { return static_cast<int>(streams_.size()); }
    void begin(const Collective& collective, std::chrono::milliseconds timeout) override;
    void send_recv(int to, std::span<const std::byte> out, int from,
                   std::span<std::byte> in, const Combine& combine = {}) override;
    void send(int to, std::span<const std::byte> out) override {
        send_recv(to, out, kNoRank, {});
    }
    void recv(int from, std::span<std::byte> in, const Combine& combine = {}) override {
        send_recv(kNoRank, {}, from, in, combine);
    }
    void post(PointMessage& message) override;
    void progress() override;
    void poll() override;
    void wake() noexcept override;
    void set_on_wake(std::function<void()> on_wake) override {
        on_wake_ = std::move(on_wake);
    }
    void set_note(const std::string& note) override { note_ = note; }
    bool shares_memory_with(int other) const override {
        return streams_[static_cast<size_t>(other)].channel().shares_memory();
    }
    void count_sent(size_t bytes) override { bytes_sent_ += bytes; }
    uint64_t bytes_sent() const override { return bytes_sent_; }
    uint64_t messages_sent() const override { return messages_sent_; }
    void leave(const Failure& reason) noexcept override { detector_.leave(reason); }
    void interrupt() noexcept override;

  private:
    static constexpr int kNoRank = -1;

    MessageStream& stream(int rank) { return streams_[static_cast<size_t>(rank)]; }
    void enqueue(int to, const MessageHeader& header, std::span<const std::byte> payload,
                 bool& done);
    void run_until_done(const bool& sent, int to, const bool& received, int from);
    bool move_all();
    bool finish_points();
    bool push_to(int to);
    bool pull_from(int from);
    bool accept_message(int from);
    bool wants_input(int from) const;
    bool has_left(int from) const;
    bool is_expected(int from) const;
    void announce_wait_to_all(int awaited);
    void send_waiting(int to, int awaited);
    void sleep(Deadline until);
    bool take_wake_up();
    void check_deadline(int awaited);
    void warn(int awaited);
    void check_point_deadlines();
    [[noreturn]] void connection_closed(int peer);

    const int rank_;
    const bool has_core_;                 // there are as many cores as ranks
    std::vector<MessageStream> streams_;  // by rank; this rank's own is not open
    CollectiveHistory history_;
    Inbox inbox_;
    FailureDetector detector_;
    std::vector<char> has_gone_;       // by rank: left, and this rank expected no message
    std::list<PointMessage*> points_;  // all messages that are not done

    int idle_polls_ = 0;
    unsigned turns_ = 0;
    size_t finished_points_ = 0;  // since progress() began

    std::string note_;
    std::chrono::milliseconds timeout_{};
    std::optional<Deadline> deadline_;  // set at the first check: many waits need none
    bool has_warned_ = false;
    bool is_listening_ = false;          // reads from all ranks, because this rank sleeps
    int announced_to_ = kAnySource;      // the last rank notified of this rank's wait
    bool has_announced_to_all_ = false;  // announce_wait_to_all() was called in this wait

    Event wake_event_;  // wake() sets it
    std::atomic<bool> is_wake_pending_ = false;
    std::function<void()> on_wake_;

    uint64_t bytes_sent_ = 0;
    uint64_t messages_sent_ = 0;
};

}  // namespace mini::dist
