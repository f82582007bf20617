// LinkPort: when frames pass a port.

#include "libmini/distributed/transport/link_port.hpp"

#include <chrono>
#include <cstdint>

#include "tests/support/catch.hpp"

namespace mini::dist {
namespace {

using std::chrono::milliseconds;
using Picoseconds = std::chrono::duration<int64_t, std::pico>;
using Port = LinkPort<milliseconds>;

// Returns whether the frame passes the port from `begin` to `end`, in milliseconds.
bool passes(const Port::Passage& passage, int begin, int end) {
    return passage.begin == milliseconds(begin) && passage.end == milliseconds(end);
}

TEST_CASE("bytes occupy a port for bytes / rate, rounded to a tick") {
    CHECK(time_to_send<Picoseconds>(1, 12.5e9) == Picoseconds(80));
    CHECK(time_to_send<Picoseconds>(12'500'000, 12.5e9) == milliseconds(1));
    CHECK(time_to_send<Picoseconds>(0, 12.5e9) == Picoseconds(0));
    CHECK(time_to_send<milliseconds>(1600, 1e6) == milliseconds(2));
}

TEST_CASE("frames pass a busy port one after another, and an idle port at once") {
    Port port;
    CHECK(passes(port.add(milliseconds(10), milliseconds(3)), 10, 13));
    CHECK(passes(port.add(milliseconds(11), milliseconds(2)), 13, 15));
    CHECK(passes(port.add(milliseconds(15), milliseconds(1)), 15, 16));
    CHECK(passes(port.add(milliseconds(20), milliseconds(1)), 20, 21));
    CHECK(port.free_at() == milliseconds(21));
}

TEST_CASE("a frame that is added late passes in the first idle time after its arrival") {
    Port port;
    port.add(milliseconds(20), milliseconds(5));
    CHECK(passes(port.add(milliseconds(10), milliseconds(3)), 10, 13));
    CHECK(passes(port.add(milliseconds(12), milliseconds(1)), 13, 14));
    CHECK(port.free_at() == milliseconds(25));
}

TEST_CASE("a frame too long for an idle time is interrupted by frames added earlier") {
    Port port;
    port.add(milliseconds(10), milliseconds(1));
    port.add(milliseconds(14), milliseconds(2));
    port.add(milliseconds(18), milliseconds(2));
    CHECK(
        passes(port.add(milliseconds(10), milliseconds(6)), 11, 21));  // 11-14, 16-18, 20
    CHECK(passes(port.add(milliseconds(10), milliseconds(1)), 21, 22));
}

TEST_CASE(
    "a frame that fits exactly before another frame does not wait for the other frame") {
    Port port;
    port.add(milliseconds(12), milliseconds(2));
    CHECK(passes(port.add(milliseconds(10), milliseconds(2)), 10, 12));
    CHECK(passes(port.add(milliseconds(10), milliseconds(1)), 14, 15));
}

TEST_CASE(
    "a message without bytes waits until the port is idle and does not occupy the port") {
    Port port;
    port.add(milliseconds(10), milliseconds(3));
    CHECK(passes(port.add(milliseconds(11), milliseconds(0)), 13, 13));
    CHECK(passes(port.add(milliseconds(11), milliseconds(1)), 13, 14));
    CHECK(passes(port.add(milliseconds(30), milliseconds(0)), 30, 30));
}

TEST_CASE("a port treats the time of frames that it has discarded as occupied") {
    Port port;
    for (int i = 0; i < 1000; ++i) port.add(milliseconds(10 * i), milliseconds(1));
    const auto late = port.add(milliseconds(0), milliseconds(1));
    CHECK(late.begin > milliseconds(9000));
    CHECK(late.end < milliseconds(9990));
}

}  // namespace
}  // namespace mini::dist
