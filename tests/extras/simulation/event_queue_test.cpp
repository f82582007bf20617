#include "libmini/extras/simulation/event_queue.hpp"

#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "tests/support/catch.hpp"

namespace mini::dist {
namespace {

VirtualTime us(int count) { return std::chrono::microseconds(count); }

TEST_CASE("events run by time, then by order, then in the order of the calls of at()") {
    EventQueue queue;
    std::string ran;
    const auto add = [&](int time, uint64_t order, char name) {
        queue.at(us(time), order, [&ran, name] { ran += name; });
    };
    add(3, 0, 'e');
    add(1, 7, 'c');
    add(1, 2, 'a');
    add(1, 2, 'b');
    add(3, 0, 'f');
    add(2, 9, 'd');
    while (queue.run_next()) {
    }
    CHECK(ran == "abcdef");
    CHECK(queue.now() == us(3));
    CHECK(queue.empty());
}

TEST_CASE("an action adds events, from its own time on") {
    EventQueue queue;
    std::vector<VirtualTime> times;
    queue.at(us(5), 0, [&] {
        times.push_back(queue.now());
        queue.at(us(8), 0, [&] { times.push_back(queue.now()); });
        queue.at(queue.now(), 0, [&] { times.push_back(queue.now()); });
        CHECK_THROWS_AS(queue.at(us(4), 0, [] {}), Error);
    });
    while (queue.run_next()) {
    }
    CHECK(times == std::vector<VirtualTime>{us(5), us(5), us(8)});
    CHECK_FALSE(queue.run_next());
    CHECK(queue.now() == us(8));
}

TEST_CASE("an action that clears the queue is the last one") {
    EventQueue queue;
    queue.at(us(1), 0, [&] { queue.clear(); });
    queue.at(us(2), 0, [] { FAIL("a cleared event ran"); });
    CHECK(queue.run_next());
    CHECK_FALSE(queue.run_next());
    CHECK(queue.now() == us(1));
}

}  // namespace
}  // namespace mini::dist
