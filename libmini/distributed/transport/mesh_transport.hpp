// The transport over a full mesh: a channel to every other rank.
//
// Whatever this rank waits for, all its messages move on: those of the collective, and
// those from point to point that were posted before or while it waits. A message that
// comes before anybody has asked for it is put aside until somebody does.
//
// When something goes wrong, the rank that notices tells all others before it leaves, so
// that they need not wait for their deadlines, and so that all name the same cause:
//
//     a rank ...       is noticed by                       and becomes
//     died             its connections, which close        PeerLost, first next to it
//     is silent        the deadline, which passes          Timeout; whoever waits for a rank
//                                                          that waits follows the chain, by
//                                                          what each one says in leaving, or
//                                                          has said halfway
//     runs something   the header of its first message     MismatchedCollective on both
//     else
//
// A wait first spins for a moment, giving its core away each time, and then sleeps in
// poll: the answer of a rank that is in step comes within microseconds, and waking up
// takes longer.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "libmini/distributed/transport/message_stream.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

class MeshTransport : public Transport {
  public:
    /// REQUIRES: one open stream for each rank but this one, by rank.
    MeshTransport(int rank, std::vector<MessageStream> streams);
    ~MeshTransport() override;

    int rank() const override { return rank_; }
    int world_size() const override { return static_cast<int>(peers_.size()); }
    void begin(const Collective& collective, std::chrono::milliseconds timeout) override;
    void send_recv(int to, std::span<const std::byte> out, int from,
                   std::span<std::byte> in, const Combine& combine = {}) override;
    void send(int to, std::span<const std::byte> out) override;
    void recv(int from, std::span<std::byte> in, const Combine& combine = {}) override;
    void post(PointMessage& message) override;
    void progress() override;
    void poll() override;
    void wake() noexcept override;
    void set_on_wake(std::function<void()> on_wake) override;
    uint64_t bytes_sent() const override { return bytes_sent_; }
    uint64_t messages_sent() const override { return messages_sent_; }
    void leave(const Failure& reason) noexcept override;
    void interrupt() noexcept override;

  private:
    static constexpr int kNobody = -1;

    // Bytes on their way out: of the collective, or of a message from point to point.
    struct Outgoing {
        MessageHeader header;
        std::span<const std::byte> payload;
        bool* done = nullptr;
    };

    // A receive of the collective.
    struct Wanted {
        std::span<std::byte> place;
        Combine combine;
        bool done = false;
    };

    // A message that came before it was asked for. Its payload grows as its bytes come.
    struct Early {
        MessageHeader header;
        std::vector<std::byte> payload;
        bool complete = false;
    };

    // What a receive may take: messages of the collective, or those with one tag.
    using Sort = std::pair<MessageHeader::Kind, uint64_t>;
    static Sort sort_of(const MessageHeader& header);

    // Where the payload goes that is coming in.
    struct Destination {
        std::span<std::byte> place;
        Combine combine;
        bool* done = nullptr;  // null: not chosen yet
        Early* early = nullptr;
    };

    struct Peer {
        MessageStream stream;
        std::deque<Outgoing> outgoing;  // the first one is in the stream
        Wanted* wanted = nullptr;
        std::list<PointMessage*> receives;        // from this very peer, in order
        std::map<Sort, std::deque<Early>> early;  // of each sort in order
        Destination destination;
        bool has_gone = false;  // while nobody asked for anything of it
        int awaits = kNobody;   // whom it waits for itself, by its own words ...
        Collective awaits_in;   // ... in this collective
    };

    Peer& peer(int rank) { return peers_[static_cast<size_t>(rank)]; }
    void enqueue(int to, Outgoing outgoing);
    void want(int from, Wanted& wanted);
    void run_until_done(const bool& sent, int to, const bool& received, int from);
    bool move_all();
    bool finish_points();
    bool push_to(int to);
    bool pull_from(int from);
    bool wants_input(int from);
    bool is_asked_for(int from) const;
    bool choose_destination(int from);
    void tell_that_we_wait(int awaited);
    void tell_all_whom_we_await(int awaited);
    void tell(int to, int awaited);
    void check_arrival(int from, const MessageHeader& header, size_t expected) const;
    void finish_arrival(int from);
    PointMessage* receiver_of(int from, const MessageHeader& header);
    bool put_aside(int from, const MessageHeader& header);
    void deliver_early(int from, Sort sort);
    bool deliver(int from, Early& early);
    void complete(PointMessage& message, int source);

    void sleep(Deadline until);
    bool take_wake_up();
    void check_deadline(int awaited);
    void check_point_deadlines();
    std::string activity() const { return describe(history_.current()); }

    [[noreturn]] void peer_closed(int peer);
    int first_to_go(int cut_off);
    [[noreturn]] void peer_reports(int peer, const Failure& failure);
    [[noreturn]] void deadline_passed(int peer, const std::string& story);
    [[noreturn]] void follow_silence(int silent, std::string story, Deadline grace);
    int awaited_by(int waiting) const;

    const int rank_;
    std::vector<Peer> peers_;              // by rank; this rank's own has no stream
    std::list<PointMessage*> points_;      // all that are not done
    std::list<PointMessage*> any_source_;  // receives among them
    size_t early_bytes_ = 0;               // that all peers have announced
    size_t early_messages_ = 0;            // of all peers
    int idle_polls_ = 0;
    unsigned turns_ = 0;
    size_t finished_points_ = 0;  // since progress() began

    CollectiveHistory history_;
    std::chrono::milliseconds timeout_{};
    Deadline deadline_;
    bool has_warned_ = false;
    bool is_listening_ = false;  // to all ranks: this one waits, and has spun in vain
    int told_ = kAnySource;      // whom it has told so
    bool has_told_all_ = false;  // that it waits, and for whom
    bool nobody_asks_ = false;   // whether that has left

    Socket bell_;  // an eventfd that wake() rings
    std::atomic<bool> bell_rung_ = false;
    std::function<void()> on_wake_;

    uint64_t bytes_sent_ = 0;
    uint64_t messages_sent_ = 0;
    bool has_left_ = false;
    std::atomic<bool> interrupted_ = false;
};

}  // namespace mini::dist
