// The links of a cluster: parse_links, the route between two ranks, and when frames pass
// a port.

#include "libmini/distributed/transport/links.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/message_of.hpp"

namespace mini::dist {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using test::contains;
using test::message_of;

TEST_CASE("parse_links reads a rate and a delay") {
    struct Row {
        const char* text;
        double bytes_per_second;
        microseconds delay;
    };
    for (const Row& row : {Row{"100Mbit,5ms", 12.5e6, microseconds(5000)},
                           Row{"1Gbit", 125e6, microseconds(0)},
                           Row{"56kbit,2s", 7000, microseconds(2'000'000)},
                           Row{"1.5Gbit,50us", 187.5e6, microseconds(50)},
                           Row{"1kbit,60s", 125, microseconds(60'000'000)},
                           Row{"1000Gbit,1us", 125e9, microseconds(1)}}) {
        CAPTURE(row.text);
        CHECK(parse_links(row.text).network.bytes_per_second == row.bytes_per_second);
        CHECK(parse_links(row.text).network.delay == row.delay);
    }
}

TEST_CASE("parse_links rejects other text, and a link that is too slow or too fast") {
    for (const char* const text :
         {"fast",        "100",         "100Mbit,",      "100Mbit,5",   "0Mbit",
          "-1Mbit",      "1Mbit,5ms,",  "nanMbit",       "1mbit",       "1Mbit,61s",
          ",",           "1e-300kbit",  "0.9kbit",       "1e-400Mbit",  "1001Gbit",
          "1e9Gbit",     "1e400Gbit",   "infGbit",       "-infGbit",    "-1e-300kbit",
          "1Mbit,0ms",   "1Mbit,-1ms",  "1Mbit,1e-300s", "1Mbit,0.5us", "1Mbit,infs",
          "1Mbit,nanms", "1Mbit,1e300s"}) {
        CAPTURE(text);
        const std::string message = message_of<UsageError>([&] { parse_links(text); });
        CHECK(contains(message, "is not like 100Mbit,5ms"));
        CHECK(contains(message, "a rate from 1kbit to 1000Gbit a second"));
        CHECK(contains(message, "a delay from 1us to 60s"));
    }
}

TEST_CASE("links without hosts give each rank its own ports") {
    const Links links = parse_links("100Gbit,5us");
    const Route there = route(links, 0, 3), back = route(links, 3, 0);
    CHECK(there.bytes_per_second == 12.5e9);
    CHECK(there.delay == microseconds(5));
    CHECK(there.out_port == back.in_port);
    CHECK(there.in_port == back.out_port);
    CHECK(there.out_port != there.in_port);
    CHECK(route(links, 1, 2).out_port < port_count(links, 4));
    CHECK(hosts_of(links, 3) == std::vector<int>{0, 1, 2});
}

TEST_CASE(
    "ranks of one host share the port to the network but not the ports inside the host") {
    const Links links = parse_links("100Gbit,5us; hosts of 4: 800Gbit,1us");
    CHECK(hosts_of(links, 9) == std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1, 2});
    CHECK(route(links, 0, 4).out_port == route(links, 3, 8).out_port);
    CHECK(route(links, 0, 4).in_port == route(links, 8, 7).in_port);
    CHECK(route(links, 0, 4).in_port != route(links, 0, 8).in_port);

    const Route inside = route(links, 5, 6);
    CHECK(inside.bytes_per_second == 100e9);
    CHECK(inside.delay == microseconds(1));
    CHECK(inside.out_port != route(links, 6, 5).out_port);
    CHECK(inside.out_port != route(links, 5, 0).out_port);
    for (int from = 0; from < 9; ++from)
        for (int to = 0; to < 9; ++to)
            if (from != to) CHECK(route(links, from, to).in_port < port_count(links, 9));
}

TEST_CASE("a slow rank sends and receives at a share of the rate") {
    const Links links = parse_links("8Gbit; rank 3 at 0.25; rank 1 at 0.5");
    CHECK(route(links, 0, 2).bytes_per_second == 1e9);
    CHECK(route(links, 0, 3).bytes_per_second == 0.25e9);
    CHECK(route(links, 3, 0).bytes_per_second == 0.25e9);
    CHECK(route(links, 1, 3).bytes_per_second == 0.25e9);
    CHECK(route(links, 1, 0).bytes_per_second == 0.5e9);
}

TEST_CASE(
    "the error for text that does not describe links shows the part that is wrong") {
    const auto error = [](const std::string& text) {
        return message_of<UsageError>([&] { parse_links(text); });
    };
    CHECK(contains(error(""), "the rate of the network is missing"));
    CHECK(contains(error("fast"), "\"fast\""));
    CHECK(
        contains(error("1Gbit; hosts of 0: 2Gbit"), "\"hosts of 0: 2Gbit\" is not like"));
    CHECK(contains(error("1Gbit; hosts of 4"), "\"hosts of 4\" is not like"));
    CHECK(contains(error("1Gbit; hosts of 4: "), "the rate of the network is missing"));
    CHECK(contains(error("1Gbit; rank 3 at 0"), "with a share from 0.001 to 1"));
    CHECK(contains(error("1Gbit; rank 3 at 0.0009"), "with a share from 0.001 to 1"));
    CHECK(contains(error("1Gbit; rank 3 at 1.5"), "with a share from 0.001 to 1"));
    CHECK(contains(error("1Gbit; rank -1 at 0.5"), "with a share from 0.001 to 1"));
    CHECK(contains(error("1Gbit; rank 3 at 0.5x"), "with a share from 0.001 to 1"));
    CHECK(contains(error("1Gbit; racks of 3"), "\"racks of 3\" is not like"));
    CHECK(contains(error("1Gbit;"), "\"\" is not like"));
}

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
