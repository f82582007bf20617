// A wake-up of a rank that waits for messages, whose event is set late.

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "libmini/distributed/net/system.hpp"
#include "libmini/distributed/net/time_source.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

// The machine's system, except that it calls `before_set` once before it sets an event.
class LateEvents final : public System {
  public:
    std::function<void()> before_set;

    int listen(const addrinfo& address) override { return real_.listen(address); }
    int connect(const addrinfo& address) override { return real_.connect(address); }
    int connect_error(int fd) override { return real_.connect_error(fd); }
    int accept(int listener) override { return real_.accept(listener); }
    Address local_address(int fd) override { return real_.local_address(fd); }
    Address peer_address(int fd) override { return real_.peer_address(fd); }
    ssize_t send(int fd, std::span<const std::byte> head,
                 std::span<const std::byte> body) override {
        return real_.send(fd, head, body);
    }
    ssize_t recv(int fd, std::span<std::byte> bytes) override {
        return real_.recv(fd, bytes);
    }
    void shutdown(int fd, int how) noexcept override { real_.shutdown(fd, how); }
    void close(int fd) noexcept override { real_.close(fd); }
    int new_event() override { return real_.new_event(); }
    void set_event(int fd) noexcept override {
        if (before_set) std::exchange(before_set, nullptr)();
        real_.set_event(fd);
    }
    void clear_event(int fd) noexcept override { real_.clear_event(fd); }
    std::string host_name() override { return real_.host_name(); }
    std::string host_id() override { return real_.host_id(); }
    int process_id() override { return real_.process_id(); }
    uint64_t random_number() override { return real_.random_number(); }

  private:
    System& real_ = system();
    SystemGuard guard_{*this};
};

// A clock that stands still, except that a poll without an event ends at its deadline. It
// ends every wait after kMostPolls.
class PolledTime final : public TimeSource {
  public:
    static constexpr int kMostPolls = 50;
    int polls = 0;

    Moment now() noexcept override { return now_; }
    void sleep_until(Moment moment) override { now_ = std::max(now_, moment); }
    void yield() override {}
    int poll(std::span<pollfd> entries, Moment deadline) override {
        if (++polls > kMostPolls) now_ += std::chrono::hours(1);
        const int ready = ::poll(entries.data(), entries.size(), 0);
        if (ready == 0) now_ = std::max(now_, deadline);
        return ready;
    }
    void wait(std::condition_variable&, std::unique_lock<std::mutex>&,
              Moment deadline) override {
        now_ = std::max(now_, deadline);
    }

  private:
    Moment now_ = std::chrono::steady_clock::now();
    TimeSourceGuard guard_{*this};
};

}  // namespace

TEST_CASE("a rank sleeps again after a wake-up whose event was set late") {
    LateEvents events;
    PolledTime time;
    const auto transports = make_threads_transports(2);
    GroupTransport& rank0 = *transports[0];

    // The wake-up is noticed, and this call returns, before its event is set.
    bool noticed = false;
    events.before_set = [&] {
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
    CHECK(time.polls < PolledTime::kMostPolls);
}
