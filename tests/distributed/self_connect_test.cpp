// TCP self-connection. In a network with only two ephemeral ports, a rank that tries to
// connect to rank 0 on one of these ports would soon connect to itself, if connect_to did
// not prevent it.

#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstring>
#include <fstream>
#include <string>

#include "tests/distributed/processes.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

constexpr int kPort = 50000;

// Moves this process into a network with two ephemeral ports. Returns false if this
// machine does not allow network namespaces.
bool enter_network_of_two_ports() {
    if (::unshare(CLONE_NEWNET) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
        return false;
    const Socket any(::socket(AF_INET, SOCK_DGRAM, 0));
    ifreq loopback{};
    std::strcpy(loopback.ifr_name, "lo");
    loopback.ifr_flags = IFF_UP;
    if (::ioctl(any.fd(), SIOCSIFFLAGS, &loopback) != 0) return false;
    std::ofstream range("/proc/sys/net/ipv4/ip_local_port_range");
    range << kPort << " " << kPort + 1 << std::flush;
    return range.good();
}

}  // namespace

TEST_CASE(
    "a rank that waits for rank 0 never connects to itself or takes rank 0's port") {
    Processes processes;
    processes.start(1, [](int, int) {
        if (!enter_network_of_two_ports()) throw Error("left out");
        const Address address{"127.0.0.1", kPort};
        const auto connect = [&](Refusal refusal) {
            return failure_of(
                [&] { connect_to(address, deadline_after(milliseconds(300)), refusal); });
        };
        for (int i = 0; i < 10; ++i)
            MINI_CHECK(contains(connect(Refusal::kNoMore), "Connection refused"),
                       "found");
        const std::string text = connect(Refusal::kNotYet);
        MINI_CHECK(contains(text, "Timeout") && contains(text, "Connection refused"),
                   text);

        // Start rank 0's listener: its port must be free.
        const Socket listener = listen_on(address);
        const Socket end = connect_to(address, deadline_after(kLong));
        MINI_CHECK(!is_connected_to_itself(end), "itself");
    });
    const std::string report = processes.report(0);
    if (contains(report, "left out"))
        WARN("left out: this machine forbids network namespaces");
    else
        CHECK(report == "");
}
