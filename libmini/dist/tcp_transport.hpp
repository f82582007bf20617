// The transport between processes: a full mesh of TCP connections (tcp_mesh.hpp).
//
// When something goes wrong, the rank that notices tells all others before it leaves, so
// that they need not wait for their deadlines, and so that all name the same cause:
//
//     a rank ...       is noticed by                       and becomes
//     died             its connections, which close        PeerLost, first next to it
//     is silent        the deadline, which passes          Timeout; whoever waits for a rank
//                                                          that waits follows the chain
//     runs something   the header of its first message     MismatchedCollective on both
//     else
//
// A wait first spins for a moment, giving its core away each time, and then sleeps in
// poll: the answer of a rank that is in step comes within microseconds, and waking up
// takes longer.

#pragma once

#include <atomic>
#include <vector>

#include "libmini/dist/message_stream.hpp"
#include "libmini/dist/transport.hpp"

namespace mini::dist {

class TcpTransport : public Transport {
  public:
    /// REQUIRES: one connected stream for each rank but this one, by rank.
    TcpTransport(int rank, std::vector<MessageStream> streams);

    int rank() const override { return rank_; }
    int world_size() const override { return static_cast<int>(streams_.size()); }
    void begin(const Collective& collective, std::chrono::milliseconds timeout) override;
    void send_recv(int to, std::span<const std::byte> out, int from,
                   std::span<std::byte> in) override;
    void send(int to, std::span<const std::byte> out) override;
    void recv(int from, std::span<std::byte> in) override;
    uint64_t bytes_sent() const override { return bytes_sent_; }
    void leave(const Failure& reason) noexcept override;
    void interrupt() noexcept override;

  private:
    MessageStream& stream(int rank) { return streams_[static_cast<size_t>(rank)]; }
    void start_message(int to, std::span<const std::byte> out);
    void exchange(int to, int from, std::span<std::byte> in);
    bool push_to(int to);
    bool pull_from(int from, std::span<std::byte> in);
    void wait_for_either(int to, int from);

    [[noreturn]] void peer_closed(int peer);
    [[noreturn]] void peer_reports(int peer, const Failure& failure);
    [[noreturn]] void deadline_passed(int peer);
    [[noreturn]] void follow_silence(int silent, std::string story, Deadline grace);

    int rank_;
    std::vector<MessageStream> streams_;
    CollectiveHistory history_;
    std::chrono::milliseconds timeout_{};
    Deadline deadline_;
    uint64_t bytes_sent_ = 0;
    bool has_left_ = false;
    std::atomic<bool> interrupted_ = false;
};

}  // namespace mini::dist
