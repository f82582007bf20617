#include "raw_sockets.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/distributed/net/clock.hpp"
#include "libmini/distributed/net/socket.hpp"
#include "libmini/program/timing.hpp"

namespace bench {
namespace {

namespace dist = mini::dist;
using Bytes = std::vector<std::byte>;

constexpr std::chrono::seconds kConnectTime(10);

void make_blocking(const dist::Socket& socket) {
    ::fcntl(socket.fd(), F_SETFL, ::fcntl(socket.fd(), F_GETFL) & ~O_NONBLOCK);
}

// Returns the two ends of a connection.
std::pair<dist::Socket, dist::Socket> connected_pair() {
    const dist::Socket listener = dist::listen_on({"127.0.0.1", 0});
    const auto deadline = dist::deadline_after(kConnectTime);
    dist::Socket one = dist::connect_to(dist::local_address(listener), deadline);
    MINI_CHECK(dist::wait_for(listener, POLLIN, deadline), "no connection to 127.0.0.1");
    dist::Socket other = dist::accept_from(listener);
    make_blocking(one);
    make_blocking(other);
    return {std::move(one), std::move(other)};
}

void send_bytes(const dist::Socket& socket, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t n = ::send(socket.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        MINI_CHECK(n > 0, mini::system_message("send", errno));
        bytes = bytes.subspan(static_cast<size_t>(n));
    }
}

// Returns false if the other side has closed the connection.
bool recv_bytes(const dist::Socket& socket, std::span<std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t n = ::recv(socket.fd(), bytes.data(), bytes.size(), 0);
        MINI_CHECK(n >= 0, mini::system_message("recv", errno));
        if (n == 0) return false;
        bytes = bytes.subspan(static_cast<size_t>(n));
    }
    return true;
}

void exchange(const dist::Socket& socket, const Bytes& out, Bytes& in) {
    std::thread sender([&] { send_bytes(socket, out); });
    recv_bytes(socket, in);
    sender.join();
}

// The other process: exchanges when a byte arrives, until the connection is closed.
[[noreturn]] void answer_exchanges(const dist::Socket& socket, size_t bytes) {
    Bytes out(bytes), in(bytes), go(1);
    try {
        while (recv_bytes(socket, go)) exchange(socket, out, in);
    } catch (const mini::Error&) {
        std::_Exit(1);
    }
    std::_Exit(0);
}

}  // namespace

double raw_exchange_seconds(int64_t bytes, double seconds) {
    const auto size = static_cast<size_t>(bytes);
    auto [mine, theirs] = connected_pair();
    const pid_t child = ::fork();
    MINI_CHECK(child >= 0, mini::system_message("fork", errno));
    if (child == 0) {
        mine = {};
        answer_exchanges(theirs, size);
    }
    theirs = {};

    Bytes out(size), in(size);
    const Bytes go(1);
    const auto once = [&] {
        send_bytes(mine, go);
        exchange(mine, out, in);
    };
    once();
    const double each = mini::seconds_each(seconds, once);
    mine = {};
    int status = 0;
    ::waitpid(child, &status, 0);
    MINI_CHECK(status == 0, "the other process of the exchange failed");
    return each;
}

}  // namespace bench
