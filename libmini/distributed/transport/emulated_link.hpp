// Emulates a slow network on one machine: bytes leave at the link's rate and arrive after
// its delay.
//
//     --link 100Mbit,5ms
//
//     sender      | reached, size | bytes | reached, size | bytes | ... -> inner channel
//                 reached: the time at which the frame's first byte leaves the sender's
//                 out port, plus the delay
//     receiver    reads frames immediately, queues them at its in port, and returns the
//                 bytes of a frame when its last byte has passed the in port
//
// All channels of a rank share its out port and its in port (links.hpp). So a rank
// sends to all other ranks together at the rate of one link, and receives at this rate.
//
// The inner channel must be faster than the link. Both sides read the same clock, because
// they are processes of one machine. Only the receiver waits for the delay, so a rank
// that has sent a message can continue with other work.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libmini/distributed/net/clock.hpp"
#include "libmini/distributed/transport/channel.hpp"
#include "libmini/distributed/transport/links.hpp"

namespace mini::dist {

/// The ports of one rank, which all its links share. `mutex` guards them, because
/// subgroups have their own threads.
struct RankPorts {
    std::mutex mutex;
    LinkPort<Deadline> out, in;
};

class EmulatedLink : public Channel {
  public:
    /// `ports` are the ports of this rank. REQUIRES: the other side's channel is an
    /// EmulatedLink too, with the same `spec` and the same clock.
    EmulatedLink(std::unique_ptr<Channel> inner, LinkSpec spec,
                 std::shared_ptr<RankPorts> ports);

    size_t send_some(std::span<const std::byte> head,
                     std::span<const std::byte> body) override;
    size_t recv_some(std::span<std::byte> place) override;
    bool prepare_to_sleep(int interest, short& events) override;
    void wake_up(short revents) override { inner_->wake_up(revents); }
    Deadline next_event() const override { return next_event_; }
    const Socket& socket() const override { return inner_->socket(); }

  private:
    struct Frame {
        int64_t reached = 0;  // when the frame reaches the in port, in ticks of the clock
        uint64_t bytes = 0;
    };
    struct Arrived {
        Deadline due;
        std::vector<std::byte> bytes;  // with the Frame
    };

    Clock::duration duration_of(size_t bytes) const;
    Deadline accepts_at() const;
    bool is_busy() const;
    void begin_frame(size_t bytes);
    void take_in();
    size_t ready();
    bool is_over() const { return closed_ && arrived_.empty(); }

    const std::unique_ptr<Channel> inner_;
    const LinkSpec spec_;
    const std::shared_ptr<RankPorts> ports_;

    Frame out_;
    size_t out_head_left_ = 0, out_body_left_ = 0;

    std::vector<std::byte> in_ = std::vector<std::byte>(sizeof(Frame));
    size_t received_ = 0;                // bytes of in_, which is an incomplete frame
    std::deque<Arrived> arrived_;        // frames that are not due
    std::vector<std::byte> due_;         // bytes of the frames before them
    size_t read_ = 0;                    // of due_
    std::optional<std::string> closed_;  // why the inner channel closed, if it did
    Deadline next_event_ = kNever;
};

}  // namespace mini::dist
