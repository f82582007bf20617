// poll_until: waits shorter than a millisecond, which an emulated link needs.

#include "libmini/distributed/net/clock.hpp"

#include <poll.h>
#include <sys/timerfd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "libmini/distributed/transport/mesh_transport.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::dist;
using std::chrono::microseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

namespace {

constexpr int kTries = 1000;

// Never receives a byte. After each prepare_to_sleep(), next_event() is 0.3 ms ahead and
// the descriptor becomes readable after 0.9 ms.
class EarlyEventChannel : public Channel {
  public:
    size_t send_some(std::span<const std::byte> head,
                     std::span<const std::byte> body) override {
        return head.size() + body.size();
    }
    size_t recv_some(std::span<std::byte>) override {
        if (woke_early_ || sleeps_ == kTries) throw ConnectionClosed("enough");
        return 0;
    }
    bool prepare_to_sleep(int, short& events) override {
        ++sleeps_;
        itimerspec time{};
        time.it_value.tv_nsec = nanoseconds(microseconds(900)).count();
        ::timerfd_settime(timer_.fd(), 0, &time, nullptr);
        next_event_ = Clock::now() + microseconds(300);
        events = POLLIN;
        return true;
    }
    void wake_up(short revents) override { woke_early_ |= revents == 0; }
    Deadline next_event() const override { return next_event_; }
    const Socket& socket() const override { return timer_; }

    bool woke_early() const { return woke_early_; }

  private:
    const Socket timer_{::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)};
    Deadline next_event_ = kNever;
    bool woke_early_ = false;
    int sleeps_ = 0;
};

}  // namespace

TEST_CASE("time_left is exact to the nanosecond and never negative") {
    const auto left = [](nanoseconds wait) {
        const Deadline now(std::chrono::hours(1));
        const timespec time = time_left(now + wait, now);
        return std::pair<int64_t, int64_t>(time.tv_sec, time.tv_nsec);
    };
    using Time = std::pair<int64_t, int64_t>;
    CHECK(left(microseconds(300)) == Time(0, 300'000));
    CHECK(left(nanoseconds(1)) == Time(0, 1));
    CHECK(left(std::chrono::milliseconds(2500)) == Time(2, 500'000'000));
    CHECK(left(nanoseconds(0)) == Time(0, 0));
    CHECK(left(-seconds(5)) == Time(0, 0));
    CHECK(left(seconds(5000)) == Time(1000, 0));

    const timespec longest = time_left(kNever, Clock::now());
    CHECK(longest.tv_sec == 1000);
}

// A busy machine may wake the thread late, but not in each of kTries tries.
TEST_CASE("a transport wakes for a next_event in 0.3 ms before a poll event in 0.9 ms") {
    auto channel = std::make_unique<EarlyEventChannel>();
    const EarlyEventChannel& early = *channel;
    std::vector<MessageStream> streams(2);
    streams[1] = MessageStream(std::move(channel));
    MeshTransport transport(0, std::move(streams));
    transport.begin({.operation = Operation::kBroadcast}, seconds(60));
    std::vector<std::byte> buffer(1);
    CHECK_THROWS_AS(transport.recv(1, buffer), PeerLost);
    CHECK(early.woke_early());
}

TEST_CASE("final_message waits for fractions of a millisecond") {
    auto channel = std::make_unique<EarlyEventChannel>();
    const EarlyEventChannel& early = *channel;
    MessageStream stream(std::move(channel));
    stream.final_message(Clock::now() + seconds(60));
    CHECK(early.woke_early());
}
