// The Hello of a connection: the sender, the peer that the sender expects, and the errors
// for other peers.

#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <future>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "libmini/distributed/store/hash_store.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

// A server that sends back all bytes that it receives on a connection.
class EchoServer {
  public:
    EchoServer() : thread_([this] { run(); }) {}
    ~EchoServer() {
        stop_ = true;
        thread_.join();
    }
    Address address() const { return local_address(listener_); }

  private:
    void run() {
        while (!stop_) {
            if (!wait_for(listener_, POLLIN, deadline_after(milliseconds(20)))) continue;
            const Socket end = accept_from(listener_);
            try {
                std::vector<std::byte> bytes(1);
                while (true) {
                    recv_all(end, bytes, deadline_after(kLong));
                    send_all(end, bytes, deadline_after(kLong));
                }
            } catch (const Error&) {
            }
        }
    }

    const Socket listener_ = listen_on({"127.0.0.1", 0});
    std::atomic<bool> stop_ = false;
    std::thread thread_;
};

// Returns the error of rank 1 of 2 if the store has `place` as rank 0's address.
std::string failure_at(const std::string& place) {
    HashStore store;
    store.set("mesh/0", place);
    return failure_of([&] {
        connect_mesh(config_of(1, 2), store, "127.0.0.1", Medium::kTcp,
                     deadline_after(kLong));
    });
}

}  // namespace

TEST_CASE("is_connected_to_itself recognises a socket connected to itself") {
    // Bind a socket to a port and connect it to the same port: it connects to itself.
    const Socket held = reserve_port({"127.0.0.1", 0});
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(local_address(held).port));
    const auto* const place = reinterpret_cast<const sockaddr*>(&address);
    const Socket alone(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int on = 1;
    ::setsockopt(alone.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    REQUIRE(::bind(alone.fd(), place, sizeof address) == 0);
    CHECK_FALSE(is_connected_to_itself(alone));
    REQUIRE(::connect(alone.fd(), place, sizeof address) == 0);
    CHECK(is_connected_to_itself(alone));

    const Socket listener = listen_on({"127.0.0.1", 0});
    const Socket end = connect_to(local_address(listener), deadline_after(kLong));
    CHECK_FALSE(is_connected_to_itself(end));
    CHECK_FALSE(is_connected_to_itself(Socket()));
}

namespace {

// While an object of this class exists, the process cannot open a descriptor.
class NoDescriptors {
  public:
    NoDescriptors() {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        const rlimit none{0, before_.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &none);
    }
    ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    NoDescriptors(const NoDescriptors&) = delete;
    NoDescriptors& operator=(const NoDescriptors&) = delete;

  private:
    rlimit before_{};
};

}  // namespace

TEST_CASE("only sockets of the loopback interface have buffers of a fixed size") {
    const auto bytes = [](const Socket& socket, int option) {
        int value = 0;
        socklen_t size = sizeof value;
        ::getsockopt(socket.fd(), SOL_SOCKET, option, &value, &size);
        return value;
    };
    const Socket plain(::socket(AF_INET, SOCK_STREAM, 0));
    const Socket all = listen_on({"0.0.0.0", 0}), own = listen_on({"127.0.0.1", 0});
    const Socket connected = connect_to(local_address(own), deadline_after(kLong));
    for (const int option : {SO_SNDBUF, SO_RCVBUF}) {
        CHECK(bytes(all, option) == bytes(plain, option));
        CHECK(bytes(own, option) > bytes(plain, option));
        CHECK(bytes(connected, option) > bytes(plain, option));
    }
}

TEST_CASE("connect_to and listen_on throw the reason at once if no descriptor is free") {
    const auto connect = [] {
        connect_to({"127.0.0.1", 1}, deadline_after(milliseconds(300)));
    };
    const auto listen = [] { listen_on({"127.0.0.1", 0}); };

    // Call both with free descriptors first: a sanitizer opens a descriptor when it
    // checks an object for the first time.
    CHECK(contains(failure_of(connect), "Timeout"));
    CHECK(failure_of(listen) == "");

    const std::string connecting = failure_of([&] {
        const NoDescriptors none;
        connect();
    });
    const std::string listening = failure_of([&] {
        const NoDescriptors none;
        listen();
    });
    for (const std::string& text : {connecting, listening}) {
        CAPTURE(text);
        CHECK(contains(text, "socket failed: Too many open files"));
        CHECK_FALSE(contains(text, "Timeout"));
    }
}

TEST_CASE("an echo server is rejected as a store and as a rank of the mesh") {
    const EchoServer echo;
    const std::string text =
        failure_of([&] { TcpStore(echo.address(), Cookie{}, deadline_after(kLong)); });
    CAPTURE(text);
    CHECK(contains(text, concat("cannot use the store at ", to_text(echo.address()),
                                ": it sends back this side's own Hello")));
    const std::string lost =
        failure_at(concat("elsewhere ", to_text(echo.address()), " - 1"));
    CAPTURE(lost);
    CHECK(contains(lost, "PeerLost(0): rank 0 is gone: another program listens at "));
    CHECK(contains(lost, to_text(echo.address())));
}

TEST_CASE("hello_error checks the role, cookie, rank, peer and token of a Hello") {
    using Role = Hello::Role;
    const Cookie cookie{}, other{std::byte{1}};
    const Hello server = make_hello(Role::kStoreServer, cookie, 0, -1);
    const Hello client = make_hello(Role::kStoreClient, cookie, -1, 0);
    CHECK(hello_error(client, server).empty());
    CHECK(hello_error(server, client).empty());
    const Hello listener = make_hello(Role::kMeshAcceptor, cookie, 1, -1, 7);
    const Hello connector = make_hello(Role::kMeshConnector, cookie, 2, 1, 7);
    CHECK(hello_error(connector, listener).empty());
    CHECK(
        hello_error(make_hello(Role::kMeshAcceptor, cookie, 1, 2, 7), connector).empty());

    CHECK(contains(hello_error(client, client), "own Hello"));
    CHECK(contains(hello_error(server, server), "own Hello"));
    CHECK(contains(hello_error(connector, server), "role does not match"));
    CHECK(contains(hello_error(Hello{}, server), "does not speak"));
    CHECK(contains(hello_error(make_hello(Role::kStoreClient, other, -1, 0), server),
                   "belongs to another run"));
    CHECK(contains(hello_error(make_hello(Role::kStoreServer, cookie, 3, -1), client),
                   "it is rank 3, not rank 0"));
    CHECK(
        contains(hello_error(make_hello(Role::kMeshConnector, cookie, 2, 0, 7), listener),
                 "it expects rank 0, not rank 1"));
    CHECK(
        contains(hello_error(make_hello(Role::kMeshConnector, cookie, 2, 1, 8), listener),
                 "another listener"));

    // The mesh accepts only ranks above the listening rank.
    CHECK(rank_of_connector(connector, listener, 3) == 2);
    CHECK(rank_of_connector(connector, listener, 2) == -1);
    for (const int rank : {-1, 0, 1})
        CHECK(rank_of_connector(make_hello(Role::kMeshConnector, cookie, rank, 1, 7),
                                listener, 3) == -1);
}

TEST_CASE("a rank of another job on the port of a dead rank is rejected") {
    // Two jobs of two ranks, both without a cookie. The address of the first job's rank 0
    // is now used by the second job's rank 0.
    HashStore second;
    second.set("mesh/1",
               "elsewhere 127.0.0.1:1 -");  // so that rank 0 listens immediately
    auto mesh = std::async(std::launch::async, [&] {
        return connect_mesh(config_of(0, 2), second, "127.0.0.1", Medium::kTcp,
                            deadline_after(kLong));
    });
    std::istringstream place(second.get("mesh/0", deadline_after(kLong)));
    std::string host, address;
    place >> host >> address;
    const std::string lost = failure_at(concat(host, " ", address, " - 12345"));
    const Mesh mine = connect_mesh(config_of(1, 2), second, "127.0.0.1", Medium::kTcp,
                                   deadline_after(kLong));
    const Mesh theirs = mesh.get();
    CAPTURE(lost);
    CHECK(contains(lost, "PeerLost(0): rank 0 is gone: "));
    REQUIRE(theirs.streams[1].is_open());
    CHECK(to_text(local_address(mine.streams[0].channel().socket())) ==
          to_text(peer_address(theirs.streams[1].channel().socket())));
}
