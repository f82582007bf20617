// Emulates a slow network on one machine: bytes leave at the link's rate and arrive after
// its delay.
//
//     --link 100Mbit,5ms
//
//     sender      | due, size | bytes | due, size | bytes | ...  ->  inner channel
//                 due: when this frame and all before it have left at the rate, plus the
//                 delay
//     receiver    reads frames immediately, and returns their bytes when they are due
//
// The inner channel must be faster than the link. Both sides read the same clock, as
// processes of one machine do. The receiver alone applies the delay, so a rank that has
// sent can continue with other work.

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

/// Parses "100Mbit,5ms", "1Gbit" or "1Gbit,50us": a rate from 1kbit to 1000Gbit per
/// second (in kbit, Mbit or Gbit) and a delay from 1us to 60s (in us, ms or s). Returns
/// std::nullopt for "". Throws UsageError for any other text.
std::optional<LinkSpec> parse_link(const std::string& text);

class EmulatedLink : public Channel {
  public:
    using Now = std::function<Deadline()>;

    /// REQUIRES: the other side's channel is an EmulatedLink too, with the same clock.
    /// `now` is that clock; tests pass their own.
    EmulatedLink(std::unique_ptr<Channel> inner, LinkSpec spec, Now now = &Clock::now);

    size_t send_some(std::span<const std::byte> head,
                     std::span<const std::byte> body) override;
    size_t recv_some(std::span<std::byte> place) override;
    size_t recv_combine(std::span<std::byte> place, const Combine& combine) override;
    bool prepare_to_sleep(int interest, short& events) override;
    void wake_up(short revents) override { inner_->wake_up(revents); }
    Deadline next_event() const override { return next_event_; }
    const Socket& socket() const override { return inner_->socket(); }
    int poll_fd() const override { return inner_->poll_fd(); }
    void end_sending() noexcept override { inner_->end_sending(); }
    void close() noexcept override { inner_->close(); }

  private:
    struct Frame {
        int64_t due = 0;  // ticks of the clock
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
    Deadline free_at_{};  // when all bytes sent so far have left at the rate

    Frame in_;
    size_t in_head_ = 0;  // bytes of in_ received so far
    std::deque<Arrived> arrived_;
    size_t needed_ = 1;  // bytes that the last receive needed to make progress
    std::optional<std::string> closed_;  // why the inner channel closed, if it did
    Deadline next_event_ = kNever;
};

}  // namespace mini::dist
