// The checks of lab 20, tasks 20.1 and 20.2: the event queue, and the fit of alpha and
// beta.

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "labs/20-scaling-by-simulation/link_fit.hpp"
#include "labs/check/both_values.hpp"
#include "libmini/core/error.hpp"
#include "libmini/distributed/transport/links.hpp"
#include "libmini/extras/simulation/cluster.hpp"
#include "libmini/extras/simulation/event_queue.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using dist::EventQueue;
using dist::VirtualTime;
using lab20::LinkFit;
using lab20::Measurement;
using labs::about;

namespace {

// ---- 20.1

constexpr size_t kMostEvents = 10000;  // more than any case needs

VirtualTime us(int64_t count) { return std::chrono::microseconds(count); }

// Runs all events.
void run(EventQueue& queue) {
    for (size_t i = 0; i < kMostEvents; ++i)
        if (!queue.run_next()) return;
    FAIL("after " << kMostEvents
                  << " events the queue still has one: is an event removed "
                  << "before its action is called?");
}

// An event that appends its name, and the time on the clock, to `story`.
void add(EventQueue& queue, std::string& story, int64_t when, uint64_t order, char name) {
    queue.at(us(when), order, [&queue, &story, name] {
        story += concat(story.empty() ? "" : ", ", name, " at ", queue.now() / us(1));
    });
}

}  // namespace

TEST_CASE("events run in the order of their times, and the clock jumps to each",
          "[lab20][lab20.1]") {
    EventQueue queue;
    std::string story;
    add(queue, story, 30, 0, 'c');
    add(queue, story, 10, 0, 'a');
    add(queue, story, 20, 0, 'b');
    INFO("added: c at 30 us, a at 10 us, b at 20 us; hint 1 of 20.1 helps");
    INFO("the clock shows the time of an event while its action runs");
    run(queue);
    CHECK(story == "a at 10, b at 20, c at 30");
    CHECK(queue.now() == us(30));
}

TEST_CASE("without events the queue does nothing, and its clock stands still",
          "[lab20][lab20.1]") {
    EventQueue queue;
    CHECK_FALSE(queue.run_next());
    CHECK(queue.now() == us(0));
    queue.at(us(7), 0, [] {});
    CHECK(queue.run_next());
    CHECK_FALSE(queue.run_next());
    INFO("the last event was at 7 us");
    CHECK(queue.now() == us(7));
}

TEST_CASE("events of one time run by their order, then first come, first served",
          "[lab20][lab20.1]") {
    EventQueue queue;
    std::string story;
    add(queue, story, 5, ~uint64_t{0}, 'f');
    for (const char name : {'b', 'c', 'd', 'e'}) add(queue, story, 5, 1, name);
    add(queue, story, 5, 0, 'a');
    INFO("all at 5 us: f with the largest order; b, c, d, e with order 1; a with 0");
    INFO("events that are equal in both run in the order of the calls of at()");
    queue.run_next();
    {
        INFO("one call runs one event");
        CHECK(story == "a at 5");
    }
    run(queue);
    CHECK(story == "a at 5, b at 5, c at 5, d at 5, e at 5, f at 5");
}

TEST_CASE("an action adds events, and those of its own time run next",
          "[lab20][lab20.1]") {
    EventQueue queue;
    std::string story;
    queue.at(us(10), 5, [&] {
        story += "first";
        for (const char name : {'p', 'q', 'r', 's'}) add(queue, story, 20, 0, name);
        add(queue, story, 10, 0, 'o');
    });
    add(queue, story, 30, 0, 't');
    INFO(
        "at 10 us an action of order 5 adds p, q, r, s at 20 us, and o at 10 us with "
        "order "
        "0; t waits at 30 us");
    INFO("remove the event before you call its action: at() moves the events in memory");
    run(queue);
    CHECK(story == "first, o at 10, p at 20, q at 20, r at 20, s at 20, t at 30");
}

TEST_CASE("an event in the past is an error, and one at this moment is none",
          "[lab20][lab20.1]") {
    EventQueue queue;
    std::string story;
    queue.at(us(10), 0, [&] {
        CHECK_THROWS_AS(queue.at(us(9), 0, [] {}), Error);
        add(queue, story, 10, 0, 'a');
    });
    INFO("at 10 us an action adds an event at 9 us, which is an Error, and one at 10 us");
    run(queue);
    CHECK(story == "a at 10");
    CHECK(queue.now() == us(10));
}

TEST_CASE("events that are removed do not run, and new ones do", "[lab20][lab20.1]") {
    EventQueue queue;
    std::string story;
    add(queue, story, 10, 0, 'a');
    add(queue, story, 30, 0, 'b');
    queue.run_next();
    queue.clear();
    add(queue, story, 20, 0, 'c');
    INFO("a at 10 us runs; b at 30 us is removed by clear(); then c is added at 20 us");
    run(queue);
    CHECK(story == "a at 10, c at 20");
}

TEST_CASE("a thousand events in a scrambled order run in the order of their times",
          "[lab20][lab20.1]") {
    EventQueue queue;
    std::vector<int64_t> times;
    for (int64_t i = 0; i < 1000; ++i)
        queue.at(us(i * 7919 % 1009), 0, [&] { times.push_back(queue.now() / us(1)); });
    run(queue);
    REQUIRE(times.size() == 1000);
    for (size_t i = 1; i < times.size(); ++i) {
        INFO("event " << i << " of 1000 ran at " << times[i] << " us, after the one at "
                      << times[i - 1] << " us; is the heap restored after each change?");
        REQUIRE(times[i - 1] <= times[i]);
    }
}

TEST_CASE("a message between two simulated ranks takes delay plus bytes over rate",
          "[lab20][lab20.1]") {
    INFO("the simulated cluster runs on your queue: 1,000 bytes at 8 Mbit/s, 5 us");
    const auto report =
        dist::run_cluster({.world_size = 2, .links = dist::parse_links("8Mbit,5us")},
                          [](dist::Transport& transport) {
                              std::vector<std::byte> data(1000);
                              if (transport.rank() == 0)
                                  transport.send(1, data);
                              else
                                  transport.recv(0, data);
                          });
    CHECK(report.end[0] == us(1000));
    CHECK(report.end[1] == us(1005));
}

// ---- 20.2

namespace {

// Measured by `mini bench allreduce --link 1Gbit,1ms` (docs/pages/simulation.md): 2 ranks
// by recursive doubling, one message of n bytes; 4 ranks by a ring, 6 messages in a row,
// of n/4 bytes each.
const std::vector<Measurement> kMeasured{
    {1, 4, 1.12e-3},
    {1, 4096, 1.14e-3},
    {1, 65536, 1.55e-3},
    {1, 1 << 20, 9.60e-3},
    {1, 1 << 22, 34.7e-3},
    {6, 6, 6.50e-3},
    {6, 6144, 6.61e-3},
    {6, 98304, 7.30e-3},
    {6, 1.5 * (1 << 20), 19.1e-3},
    {6, 1.5 * (1 << 22), 56.6e-3},
};

double squares(const LinkFit& fit, const std::vector<Measurement>& measurements) {
    double sum = 0;
    for (const Measurement& one : measurements) {
        const double error = fit.seconds(one.messages, one.bytes) / one.seconds - 1;
        sum += error * error;
    }
    return sum;
}

// Checks that no alpha and beta near those of `fit` have smaller relative errors.
void check_best(const LinkFit& fit, const std::vector<Measurement>& measurements) {
    const double best = squares(fit, measurements);
    for (const double a : {0.99, 1.0, 1.01})
        for (const double b : {0.99, 1.0, 1.01}) {
            const LinkFit other{fit.alpha * a, fit.beta * b};
            INFO("alpha " << fit.alpha << " s, beta " << fit.beta << " s per byte: the "
                          << "squares of the errors in percent add up to " << 1e4 * best);
            INFO("with alpha * " << a << " and beta * " << b << ": "
                                 << 1e4 * squares(other, measurements));
            INFO("each measurement is divided by its own time; hint 2 of 20.2 helps");
            REQUIRE(best <= squares(other, measurements) * (1 + 1e-9) + 1e-15);
        }
}

}  // namespace

TEST_CASE("two messages by hand: 30 us for 1,000 bytes and 50 us for 3,000",
          "[lab20][lab20.2]") {
    INFO(
        "2,000 bytes more take 20 us more, so beta is 10 ns; 30 - 10 leaves alpha 20 us");
    const LinkFit fit =
        lab20::fit_link(std::vector<Measurement>{{1, 1000, 30e-6}, {1, 3000, 50e-6}});
    CHECK(fit.alpha * 1e6 == about(20, 1e-6));
    CHECK(fit.beta * 1e9 == about(10, 1e-6));
    INFO("10 us for 1,000 bytes leave alpha -10 us: least squares knows no signs");
    const LinkFit below =
        lab20::fit_link(std::vector<Measurement>{{1, 1000, 10e-6}, {1, 3000, 50e-6}});
    CHECK(below.alpha * 1e6 == about(-10, 1e-6));
    CHECK(below.beta * 1e9 == about(20, 1e-6));
}

TEST_CASE("exact times of several messages give back their alpha and beta",
          "[lab20][lab20.2]") {
    std::vector<Measurement> exact;
    for (const double messages : {1.0, 6.0, 14.0})
        for (const double bytes : {4.0, 4096.0, 1e6})
            exact.push_back({messages, bytes, 20e-6 * messages + 1e-9 * bytes});
    const LinkFit fit = lab20::fit_link(exact);
    INFO("times of alpha 20 us, beta 1 ns, with 1, 6 and 14 messages in a row");
    CHECK(fit.alpha * 1e6 == about(20, 1e-5));
    CHECK(fit.beta * 1e9 == about(1, 1e-6));
}

TEST_CASE("three percent more on 16 MiB leave the delay of small messages alone",
          "[lab20][lab20.2]") {
    const std::vector<Measurement> measured{{1, 4, 20.0e-6},
                                            {1, 4096, 24.1e-6},
                                            {1, 1 << 20, 1069e-6},
                                            {1, 1 << 24, 1.03 * 16797e-6}};
    const LinkFit fit = lab20::fit_link(measured);
    INFO("4 bytes took 20.0 us; 3 % of 16 MiB are 500 us, but only 3 %; alpha is "
         << fit.alpha * 1e6 << " us");
    check_best(fit, measured);
    CHECK(fit.alpha * 1e6 == about(20, 0.2));
}

TEST_CASE("the measured all-reduces are fitted with the smallest relative errors",
          "[lab20][lab20.2]") {
    const LinkFit fit = lab20::fit_link(kMeasured);
    check_best(fit, kMeasured);
    INFO("alpha " << fit.alpha * 1e3 << " ms, beta " << fit.beta * 1e9
                  << " ns; the emulated link has a delay of 1 ms, and takes 8 ns a byte");
    CHECK(fit.alpha * 1e6 == about(1000, 150));
    CHECK(fit.beta * 1e9 == about(8, 0.8));
    CHECK(lab20::largest_error(fit, kMeasured) < 0.1);
}

TEST_CASE("measurements that cannot separate alpha and beta are rejected",
          "[lab20][lab20.2]") {
    const Measurement small{.messages = 1, .bytes = 4, .seconds = 1e-3};
    const auto with = [&](double messages, double bytes, double seconds) {
        return std::vector<Measurement>{small, {messages, bytes, seconds}};
    };
    INFO("no measurement, one, or two of which one has twice the messages and bytes");
    CHECK_THROWS_AS(lab20::fit_link({}), UsageError);
    CHECK_THROWS_AS(lab20::fit_link(std::vector{small}), UsageError);
    CHECK_THROWS_AS(lab20::fit_link(with(2, 8, 2e-3)), UsageError);
    INFO("a measured time of 0, below 0, or that is no number");
    for (const double seconds : {0.0, -1e-3, double{NAN}})
        CHECK_THROWS_AS(lab20::fit_link(with(1, 8, seconds)), UsageError);
    INFO(
        "as many bytes with more messages are a second equation; so are no bytes at all");
    CHECK(lab20::fit_link(with(2, 4, 2e-3)).beta * 1e9 == about(0, 1));
    CHECK(lab20::fit_link(with(1, 0, 0.5e-3)).alpha * 1e6 == about(500, 0.001));
}

TEST_CASE("the largest error is relative, whatever its sign", "[lab20][lab20.2]") {
    // alpha is 1 ms, beta 1 us.
    const LinkFit fit =
        lab20::fit_link(std::vector<Measurement>{{1, 1000, 2e-3}, {2, 1000, 3e-3}});
    const Measurement exact{1, 1000, 2e-3}, short_one{1, 1000, 1.6e-3},
        long_one{1, 1000, 4e-3};
    INFO(
        "predicted 2 ms; measured 1.6 ms: 25 % too much; measured 4 ms: 50 % too little");
    const auto error = [&](const std::vector<Measurement>& measured) {
        return lab20::largest_error(fit, measured);
    };
    CHECK(error({}) == 0);
    CHECK(error({exact}) < 1e-9);
    CHECK(error({short_one, exact}) == about(0.25, 1e-9));
    CHECK(error({short_one, long_one, exact}) == about(0.5, 1e-9));
}
