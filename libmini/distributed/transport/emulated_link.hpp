// A slow network on one machine: what a rank sends leaves at the rate of the link and
// arrives after its delay.
//
//     --link 100Mbit,5ms
//
//     sender      | due, size | bytes | due, size | bytes | ...  ->  inner channel
//                 due: when all before it have left at the rate, and the delay later
//     receiver    takes frames in at once, and hands their bytes out when they are due
//
// The inner channel must be faster than the link. Both sides read the same clock, as
// processes of one machine do; so nothing has to happen on the sender's side later, and a
// rank that has sent may go on with something else.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libmini/distributed/net/deadline.hpp"
#include "libmini/distributed/transport/channel.hpp"

namespace mini::dist {

struct LinkSpec {
    double bytes_per_second = 0;
    std::chrono::nanoseconds delay{};  // one way
};

/// "100Mbit,5ms", "1Gbit", "1Gbit,50us": from 1kbit to 1000Gbit a second, and from 1us to
/// 60s, in kbit, Mbit or Gbit and us, ms or s; nothing for "". Throws UsageError for
/// anything else.
std::optional<LinkSpec> parse_link(const std::string& text);

class EmulatedLink : public Channel {
  public:
    using Now = std::function<Deadline()>;

    /// REQUIRES: the other side's channel is an EmulatedLink too, with the same clock.
    /// `now`: that clock; tests bring their own.
    EmulatedLink(std::unique_ptr<Channel> inner, LinkSpec spec, Now now = &Clock::now);

    size_t send_some(std::span<const std::byte> head,
                     std::span<const std::byte> body) override;
    size_t recv_some(std::span<std::byte> place) override;
    size_t recv_combine(std::span<std::byte> place, const Combine& combine) override;
    bool prepare_to_sleep(int interest, short& events) override;
    void wake_up(short revents) override { inner_->wake_up(revents); }
    Deadline next_event() const override { return next_event_; }
    const Socket& socket() const override { return inner_->socket(); }

  private:
    struct Frame {
        int64_t due = 0;  // on the clock
        uint64_t bytes = 0;
    };
    struct Arrived {
        Deadline due;
        std::vector<std::byte> bytes;
        size_t received = 0, read = 0;
    };

    bool is_busy() const;
    bool is_over() const;
    void begin_frame(size_t bytes);
    void take_in();
    size_t ready() const;
    size_t hand_out(std::span<std::byte> place);

    const std::unique_ptr<Channel> inner_;
    const LinkSpec spec_;
    const Now now_;

    Frame out_;
    size_t out_head_left_ = 0, out_body_left_ = 0;
    Deadline free_at_{};  // when all that was sent so far has left at the rate

    Frame in_;
    size_t in_head_ = 0;  // bytes of it that are here
    std::deque<Arrived> arrived_;
    size_t needed_ = 1;  // bytes that the last receive could not do without
    std::optional<std::string> closed_;  // the inner channel, and why
    Deadline next_event_ = kNever;
};

}  // namespace mini::dist
