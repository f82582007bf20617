// A bug hunt: a rank that connects to rank 0 before rank 0 listens. The simulated system
// has 64 ephemeral ports, so a failure that is rare on a real system occurs in each run.
//
//     lab10_bug_hunt
//
// The two processes, their network and clock are simulated: a wait takes no real time.
//
// Exit codes: 0 rank 1 has received rank 0's message, 1 otherwise.

#include <fmt/format.h>
#include <poll.h>

#include <netdb.h>
#include <array>
#include <chrono>
#include <cstddef>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include "libmini/distributed/net/clock.hpp"
#include "libmini/distributed/net/socket.hpp"
#include "libmini/extras/simulation/process_cluster.hpp"

using namespace mini;
using namespace mini::dist;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

// Rank 0's port is one of the system's ephemeral ports.
constexpr int kPort = SimulatedSystem::kFirstPort + 7;
constexpr size_t kWordBytes = 5;
constexpr seconds kRankZeroStarts(30);

Deadline start;  // of the run

std::string now_text() {
    const auto since = Clock::now() - start;
    return fmt::format("{:6.1f} s", std::chrono::duration<double>(since).count());
}

void log(int rank, const std::string& text) {
    std::cout << fmt::format("{}  rank {}: {}\n", now_text(), rank, text);
}

// Connects once, without waiting; returns a closed socket if nothing listens there.
Socket try_once(const Address& address) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const std::string port = std::to_string(address.port);
    if (::getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found) != 0) return {};
    Socket socket(system().connect(*found));
    ::freeaddrinfo(found);
    if (!socket.is_open() || !wait_for(socket, POLLOUT, deadline_after(seconds(1))) ||
        system().connect_error(socket.fd()) != 0)
        return {};
    return socket;
}

// Connects to rank 0; tries again until rank 0 listens.
Socket connect_patiently(const Address& address) {
    while (true) {
        Socket socket = try_once(address);
        if (socket.is_open()) return socket;
        sleep_for(milliseconds(100));
    }
}

void run_rank_0(const Address& address) {
    sleep_for(kRankZeroStarts);
    const Socket listener = listen_on(address);
    log(0, "listens at " + to_text(address));
    while (true) {
        const Socket socket = accept_from(listener);
        if (socket.is_open()) {
            const std::string word = "hello";
            send_all(socket, std::as_bytes(std::span(word)), deadline_after(seconds(1)));
            return;
        }
        if (!wait_for(listener, POLLIN, deadline_after(seconds(60)))) return;
    }
}

// Returns the word that rank 0 sent.
std::string run_rank_1(const Address& address) {
    const Socket socket = connect_patiently(address);
    log(1, "is connected to " + to_text(peer_address(socket)) + " from " +
               to_text(local_address(socket)));
    std::string word(kWordBytes, ' ');
    recv_all(socket, std::as_writable_bytes(std::span(word)),
             deadline_after(seconds(90)));
    log(1, "received \"" + word + "\"");
    return word;
}

}  // namespace

int main() {
    ProcessCluster cluster(std::vector<int>{0, 0}, parse_links("1Gbit,1ms"), 1);
    const Address address{cluster.system().address_of(0), kPort};
    std::string word;
    start = Clock::now();
    const auto ends = cluster.run([&](int rank) {
        if (rank == 0)
            run_rank_0(address);
        else
            word = run_rank_1(address);
    });
    for (size_t rank = 0; rank < ends.size(); ++rank)
        if (ends[rank].failure)
            std::cout << fmt::format("rank {} failed: {}\n", rank,
                                     ends[rank].failure->message);
    std::cout << (word == "hello" ? "rank 1 has rank 0's message\n"
                                  : "rank 1 has not received rank 0's message\n");
    return word == "hello" ? 0 : 1;
}
