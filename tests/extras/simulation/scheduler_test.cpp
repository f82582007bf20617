// The scheduler: fibers in an order that the seed decides, and a clock that only events
// advance.

#include "libmini/extras/simulation/scheduler.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/message_of.hpp"

namespace mini::dist {
namespace {

using std::chrono::microseconds;
using test::contains;
using test::message_of;

TEST_CASE("virtual time jumps to the next event and does not change while tasks run") {
    Scheduler scheduler(0);
    std::vector<std::string> story;
    const auto note = [&](const std::string& what) {
        story.push_back(what + std::to_string(scheduler.now() / microseconds(1)));
    };
    scheduler.add([&] {
        note("a");
        scheduler.sleep_until(scheduler.now() + microseconds(30));
        note("a");
    });
    scheduler.add([&] {
        scheduler.sleep_until(scheduler.now() + microseconds(10));
        note("b");
        scheduler.sleep_until(scheduler.now() + microseconds(10));
        note("b");
    });
    REQUIRE(scheduler.run());
    CHECK(story == std::vector<std::string>{"a0", "b10", "b20", "a30"});
    CHECK(scheduler.now() == microseconds(30));
}

TEST_CASE("events run by time, then by their order, until all tasks have returned") {
    Scheduler scheduler(0);
    std::string story;
    scheduler.add([&] {
        scheduler.at(microseconds(1), 2, [&] { story += 'c'; });
        scheduler.at(microseconds(1), 1, [&] { story += 'a'; });
        scheduler.at(microseconds(1), 1, [&] { story += 'b'; });
        scheduler.at(microseconds(0), 9, [&] { story += '0'; });
        scheduler.at(microseconds(3), 0, [&] { story += "not run"; });
        CHECK(contains(message_of([&] { scheduler.at(microseconds(-1), 0, [] {}); }),
                       "an event in the past"));
        scheduler.sleep_until(scheduler.now() + microseconds(2));
    });
    REQUIRE(scheduler.run());
    CHECK(story == "0abc");
}

TEST_CASE("wake() makes a waiting task ready and does nothing to other tasks") {
    Scheduler scheduler(0);
    bool may_go = false;
    int wakes = 0;
    const int sleeper = scheduler.add([&] {
        while (!may_go) {
            scheduler.wait();
            ++wakes;
        }
    });
    scheduler.add([&] {
        scheduler.sleep_until(scheduler.now() + microseconds(1));
        scheduler.wake(scheduler.current());  // no effect: this task runs
        scheduler.wake(sleeper);              // wakes the sleeper, which waits again
        scheduler.wake(sleeper);              // no effect: the sleeper is ready
        scheduler.sleep_until(scheduler.now() + microseconds(1));
        may_go = true;
        scheduler.wake(sleeper);
    });
    REQUIRE(scheduler.run());
    CHECK(wakes == 2);
}

TEST_CASE("the wake_at() of a wait that ended earlier does not wake the task") {
    Scheduler scheduler(0);
    std::vector<int64_t> woken;  // in microseconds
    const int sleeper = scheduler.add([&] {
        for (const microseconds end : {microseconds(20), microseconds(50)}) {
            scheduler.wake_at(end, scheduler.current());
            scheduler.wait();
            woken.push_back(scheduler.now() / microseconds(1));
        }
    });
    scheduler.add([&] {
        scheduler.sleep_until(scheduler.now() + microseconds(10));
        scheduler.wake(sleeper);
    });
    REQUIRE(scheduler.run());
    CHECK(woken == std::vector<int64_t>{10, 50});
}

TEST_CASE("run() returns false if tasks wait forever, and unwind() ends these tasks") {
    const auto token = std::make_shared<int>();
    Scheduler scheduler(0);
    for (int i = 0; i < 3; ++i)
        scheduler.add([&] {
            const auto held = token;
            scheduler.wait();
            FAIL("it was woken");
        });
    CHECK_FALSE(scheduler.run());
    CHECK(token.use_count() == 1 + 3);
    scheduler.unwind();
    CHECK(token.use_count() == 1);
}

TEST_CASE("the first exception of a task ends the run and unwinds the other tasks") {
    const auto token = std::make_shared<int>();
    Scheduler scheduler(0);
    scheduler.add([&] {
        const auto held = token;
        scheduler.wait();
    });
    scheduler.add([&] {
        const auto held = token;
        scheduler.sleep_until(scheduler.now() + microseconds(5));
        throw std::runtime_error("task 1 failed");
    });
    CHECK(message_of<std::runtime_error>([&] { scheduler.run(); }) == "task 1 failed");
    CHECK(token.use_count() == 1);
}

TEST_CASE("tasks that wait inside catch blocks keep their exceptions apart") {
    Scheduler scheduler(0);
    std::vector<std::string> caught;
    for (int i = 0; i < 3; ++i)
        scheduler.add([&, i] {
            try {
                throw std::runtime_error(std::to_string(i));
            } catch (const std::runtime_error&) {
                scheduler.sleep_until(scheduler.now() + microseconds(3 - i));
                try {
                    throw;  // this task's exception, not the last one thrown by any task
                } catch (const std::runtime_error& mine) {
                    caught.emplace_back(mine.what());
                }
            }
        });
    REQUIRE(scheduler.run());
    CHECK(caught == std::vector<std::string>{"2", "1", "0"});
}

TEST_CASE("a scheduler that never runs frees its tasks") {
    const auto token = std::make_shared<int>();
    Scheduler(0).add([token] { FAIL("it ran"); });
    CHECK(token.use_count() == 1);
}

}  // namespace
}  // namespace mini::dist
