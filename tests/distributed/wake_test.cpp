// A wake-up of a rank that waits for messages, whose event is set late.

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <span>
#include <utility>

#include "libmini/distributed/net/system.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

// The machine's system, except that it calls `before_set` once before it sets an event,
// and that its clock stands still: a poll without an event ends at its deadline. It ends
// every wait after kMostPolls.
class LateEvents final : public System {
  public:
    static constexpr int kMostPolls = 50;
    int polls = 0;
    std::function<void()> before_set;

    void set_event(int fd) noexcept override {
        if (before_set) std::exchange(before_set, nullptr)();
        System::set_event(fd);
    }
    Moment now() noexcept override { return now_; }
    void yield() override {}
    int poll(std::span<pollfd> entries, Moment deadline) override {
        if (++polls > kMostPolls) now_ += std::chrono::hours(1);
        const int ready = ::poll(entries.data(), entries.size(), 0);
        if (ready == 0) now_ = std::max(now_, deadline);
        return ready;
    }

  private:
    Moment now_ = std::chrono::steady_clock::now();
    SystemGuard guard_{*this};
};

}  // namespace

TEST_CASE("a rank sleeps again after a wake-up whose event was set late") {
    LateEvents late;
    const auto transports = make_threads_transports(2);
    GroupTransport& rank0 = *transports[0];

    // The wake-up is noticed, and this call returns, before its event is set.
    bool noticed = false;
    late.before_set = [&] {
        rank0.progress();
        noticed = true;
    };
    rank0.wake();
    REQUIRE(noticed);

    std::byte place{};
    PointMessage message;
    message.direction = PointMessage::Direction::kRecv;
    message.peer = 1;
    message.data = {&place, 1};
    message.timeout = milliseconds(1000);
    message.deadline = deadline_after(message.timeout);
    rank0.post(message);
    CHECK(contains(failure_of([&] { rank0.progress(); }), "Timeout"));
    CHECK(late.polls < LateEvents::kMostPolls);
}
