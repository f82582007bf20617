// The transport between threads of one process: a mailbox for each ordered pair of ranks.
//
//     sender                     mailbox (from, to)                    receiver
//     posts where its bytes lie  empty -> posted -> copying -> empty   copies them
//     waits until it is empty                                          says so
//
// Nothing is copied twice, and a send ends only when it was received: code that would
// deadlock on some network deadlocks here at once, which is what a teaching transport is
// for. All mailboxes share one mutex; the copies are made outside it.

#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "libmini/dist/transport.hpp"

namespace mini::dist {

/// What the ranks of one group share.
class ThreadsHub {
  public:
    explicit ThreadsHub(int world_size);

  private:
    friend class ThreadsTransport;

    struct Mailbox {
        enum class State { kEmpty, kPosted, kCopying };
        State state = State::kEmpty;
        Collective collective;
        std::span<const std::byte> payload;
    };

    Mailbox& mailbox(int from, int to) {
        return mailboxes_[static_cast<size_t>(from) * ranks_.size() +
                          static_cast<size_t>(to)];
    }

    struct Rank {
        std::optional<Failure> gone;  // why it left
        int waits_for = -1;           // in a send or receive
        bool interrupted = false;
    };

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Mailbox> mailboxes_;
    std::vector<Rank> ranks_;
};

class ThreadsTransport : public Transport {
  public:
    ThreadsTransport(std::shared_ptr<ThreadsHub> hub, int rank);
    ~ThreadsTransport() override;

    int rank() const override { return rank_; }
    int world_size() const override { return static_cast<int>(hub_->ranks_.size()); }
    void begin(const Collective& collective, std::chrono::milliseconds timeout) override;
    void send_recv(int to, std::span<const std::byte> out, int from,
                   std::span<std::byte> in) override;
    void send(int to, std::span<const std::byte> out) override;
    void recv(int from, std::span<std::byte> in) override;
    uint64_t bytes_sent() const override { return bytes_sent_; }
    void leave(const Failure& reason) noexcept override;
    void interrupt() noexcept override;

  private:
    using Lock = std::unique_lock<std::mutex>;
    using BoxState = ThreadsHub::Mailbox::State;
    void post(int to, std::span<const std::byte> out);
    void withdraw(int to, Lock& lock);
    void await_receipt(int to, Lock& lock);
    void take(int from, std::span<std::byte> in, Lock& lock);
    template <typename Condition>
    void wait_until(Condition condition, int peer, Lock& lock);
    [[noreturn]] void deadline_passed(int peer);

    std::shared_ptr<ThreadsHub> hub_;
    int rank_;
    CollectiveHistory history_;
    std::chrono::milliseconds timeout_{};
    Deadline deadline_;
    uint64_t bytes_sent_ = 0;
};

}  // namespace mini::dist
