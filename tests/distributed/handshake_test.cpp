// The first words on a connection: who answers, whom it expects, and who is neither.

#include <netinet/in.h>
#include <poll.h>
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

RendezvousConfig config_of(int rank, int world_size) {
    return {{}, rank, world_size, Cookie{}, "", "", ""};
}

// Says back to each connection what it says, until the test is over.
class EchoServer {
  public:
    EchoServer() : thread_([this] { run(); }) {}
    ~EchoServer() {
        stop_ = true;
        thread_.join();
    }
    Address address() const { return local_address(door_); }

  private:
    void run() {
        while (!stop_) {
            if (!wait_for(door_, POLLIN, deadline_after(milliseconds(20)))) continue;
            const Socket end = accept_from(door_);
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

    const Socket door_ = listen_on({"127.0.0.1", 0});
    std::atomic<bool> stop_ = false;
    std::thread thread_;
};

// What rank `rank` of 2 says when rank 0 is to be found at `place`.
std::string failure_at(const std::string& place) {
    HashStore store;
    store.set("mesh/0", place);
    return failure_of([&] {
        connect_mesh(config_of(1, 2), store, "127.0.0.1", Medium::kTcp,
                     deadline_after(kLong));
    });
}

}  // namespace

TEST_CASE("a socket that is connected to itself is told from one with two ends") {
    // A socket bound to a port that asks for this port finds itself.
    const Socket held = hold_port({"127.0.0.1", 0});
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

    const Socket door = listen_on({"127.0.0.1", 0});
    const Socket end = connect_to(local_address(door), deadline_after(kLong));
    CHECK_FALSE(is_connected_to_itself(end));
    CHECK_FALSE(is_connected_to_itself(Socket()));
}

TEST_CASE("an echo is not taken for the store, nor for a rank of the mesh") {
    const EchoServer echo;
    const std::string text =
        failure_of([&] { TcpStore(echo.address(), Cookie{}, deadline_after(kLong)); });
    CAPTURE(text);
    CHECK(contains(text, concat("cannot use the store at ", to_text(echo.address()),
                                ": it sends back this side's "
                                "own words")));
    const std::string lost =
        failure_at(concat("elsewhere ", to_text(echo.address()), " - 1"));
    CAPTURE(lost);
    CHECK(contains(lost, "PeerLost(0): rank 0 is gone: another program listens at "));
    CHECK(contains(lost, to_text(echo.address())));
}

TEST_CASE("both ends of a connection say who they are and whom they expect") {
    using Role = Hello::Role;
    const Cookie cookie{}, other{std::byte{1}};
    const Hello server = make_hello(Role::kStoreServer, cookie, 0, -1);
    const Hello client = make_hello(Role::kStoreClient, cookie, -1, 0);
    CHECK(fault_of(client, server).empty());
    CHECK(fault_of(server, client).empty());
    const Hello door = make_hello(Role::kMeshAcceptor, cookie, 1, -1, 7);
    const Hello guest = make_hello(Role::kMeshConnector, cookie, 2, 1, 7);
    CHECK(fault_of(guest, door).empty());
    CHECK(fault_of(make_hello(Role::kMeshAcceptor, cookie, 1, 2, 7), guest).empty());

    CHECK(contains(fault_of(client, client), "own words"));
    CHECK(contains(fault_of(server, server), "own words"));
    CHECK(contains(fault_of(guest, server), "another purpose"));
    CHECK(contains(fault_of(Hello{}, server), "does not speak"));
    CHECK(contains(fault_of(make_hello(Role::kStoreClient, other, -1, 0), server),
                   "another run's"));
    CHECK(contains(fault_of(make_hello(Role::kStoreServer, cookie, 3, -1), client),
                   "it is rank 3, not rank 0"));
    CHECK(contains(fault_of(make_hello(Role::kMeshConnector, cookie, 2, 0, 7), door),
                   "it expects rank 0, not rank 1"));
    CHECK(contains(fault_of(make_hello(Role::kMeshConnector, cookie, 2, 1, 8), door),
                   "listener is another"));

    // The mesh lets in the ranks above the one that listens.
    CHECK(rank_of_connector(guest, door, 3) == 2);
    CHECK(rank_of_connector(guest, door, 2) == -1);
    for (const int rank : {-1, 0, 1})
        CHECK(rank_of_connector(make_hello(Role::kMeshConnector, cookie, rank, 1, 7),
                                door, 3) == -1);
}

TEST_CASE("a rank of another job, on a port that a dead rank had, is not taken for it") {
    // Two jobs of two ranks, both without a cookie; the first job's rank 0 had the address
    // that now is the second one's.
    HashStore second;
    second.set("mesh/1", "elsewhere 127.0.0.1:1 -");  // so rank 0 listens at once
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
