// Every kind of wait uses the current time source. The deadlines here are an hour away:
// if a wait used the system's clock, the test would not end in time.

#include "libmini/distributed/net/clock.hpp"

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>

#include "libmini/distributed/net/socket.hpp"
#include "libmini/distributed/store/hash_store.hpp"
#include "libmini/distributed/store/tcp_store.hpp"
#include "libmini/distributed/store/tcp_store_server.hpp"
#include "tests/distributed/manual_time.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/written.hpp"

using namespace mini;
using namespace mini::dist;
using mini::dist::test::failure_of;
using mini::dist::test::ManualTime;

namespace {

constexpr std::chrono::milliseconds kHour = std::chrono::hours(1);

// Runs `call` while `time` advances by a minute per millisecond of real time; checks that
// `call` takes at least an hour of `time`. Returns the text of its exception.
std::string failure_in_an_hour(ManualTime& time, const std::function<void()>& call) {
    const auto start = Clock::now();
    auto failure = std::async(std::launch::async, [&] { return failure_of(call); });
    while (failure.wait_for(std::chrono::milliseconds(1)) == std::future_status::timeout)
        time.advance(std::chrono::minutes(1));
    CHECK(Clock::now() - start >= kHour);
    return failure.get();
}

}  // namespace

TEST_CASE("sleep_for uses the current time source") {
    ManualTime time;
    CHECK(failure_in_an_hour(time, [] { sleep_for(kHour); }) == "");
}

TEST_CASE("get of each store times out by the current time source") {
    ManualTime time;
    TcpStoreServer server({"127.0.0.1", 0}, Cookie{});
    const auto make = [&](const std::string& kind) -> std::unique_ptr<Store> {
        if (kind == "memory") return std::make_unique<HashStore>();
        return std::make_unique<TcpStore>(server.address(), Cookie{},
                                          deadline_after(kHour));
    };
    const auto store = make(GENERATE("memory", "TCP"));
    const std::string text =
        failure_in_an_hour(time, [&] { store->get("missing", deadline_after(kHour)); });
    CHECK(contains(text, "Timeout: "));
}

TEST_CASE("a wait for a host name or a listener is logged once") {
    const bool has_name = GENERATE(true, false);
    const Address address = has_name
                                ? Address{"node0.invalid", 29500}
                                : Address{"127.0.0.1", mini::dist::test::free_port()};
    ManualTime time;
    std::string text;
    const std::string output = mini::test::warnings_of([&] {
        text =
            failure_in_an_hour(time, [&] { connect_to(address, deadline_after(kHour)); });
    });
    CAPTURE(output, text);
    const std::string reason =
        has_name ? "cannot resolve the host name \"node0.invalid\""
                 : concat("no connection to ", to_text(address), ": connect failed");
    CHECK(text.starts_with("Timeout: " + reason));
    CHECK(output.find(reason) != std::string::npos);
    CHECK(output.find(reason) == output.rfind(reason));
    CHECK(output.find("; trying again for up to ") != std::string::npos);
}

TEST_CASE("a collective times out by the current time source") {
    ManualTime time;
    const auto groups = make_threads_groups(2, kHour);
    CHECK(contains(failure_in_an_hour(time, [&] { groups[0]->barrier(); }),
                   "Timeout: rank 0 waited 3600 s for rank 1 in barrier"));
}
