// rendezvous_config: its URLs and environment variables. join_rendezvous and
// connect_mesh: their errors when ranks disagree or are missing.

#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <future>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "libmini/distributed/rendezvous/registration.hpp"
#include "libmini/distributed/rendezvous/rendezvous.hpp"
#include "libmini/distributed/store/hash_store.hpp"
#include "libmini/distributed/transport/mesh.hpp"
#include "tests/distributed/environment.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/socket_pair.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

// The variables of minirun for rank 1 of 2.
struct ByMinirun : Environment {
    ByMinirun() {
        set("RANK", "1");
        set("WORLD_SIZE", "2");
        set("MASTER_ADDR", "127.0.0.1");
        set("MASTER_PORT", "29500");
    }
};

std::string env_failure() {
    return failure_of([] { rendezvous_config("env://", -1, -1); });
}

std::string url_failure(const std::string& url) {
    return failure_of([&] { rendezvous_config(url, -1, -1); });
}

RendezvousConfig config_at(int port, int rank, int world_size) {
    return {{"127.0.0.1", port}, rank, world_size, Cookie{}, "", "", ""};
}

}  // namespace

TEST_CASE("env:// reads torchrun's variables and the cookie") {
    ByMinirun environment;
    environment.set("MINI_STORE_COOKIE", "ff000000000000000000000000000000");
    const RendezvousConfig config = rendezvous_config("env://", -1, -1);
    CHECK(config.rank == 1);
    CHECK(config.world_size == 2);
    CHECK(to_text(config.master) == "127.0.0.1:29500");
    CHECK(config.cookie[0] == std::byte{0xff});
    CHECK(rendezvous_config("env://", 0, 3).world_size == 3);
}

TEST_CASE("a missing or invalid variable is a UsageError that names it") {
    ByMinirun environment;
    for (const char* name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}) {
        CAPTURE(name);
        const std::string old = std::getenv(name);
        ::unsetenv(name);
        CHECK(contains(env_failure(), "UsageError"));
        CHECK(contains(env_failure(),
                       concat("environment variable ", name, " expected, but not set")));
        environment.set(name, "");
        CHECK(contains(env_failure(), concat(name, " expected, but not set")));
        environment.set(name, old.c_str());
    }
    environment.set("RANK", "2");  // rank_variables_test.cpp has the other errors
    CHECK(contains(env_failure(), "RANK is 2 but WORLD_SIZE is 2"));
    environment.set("RANK", "1");
    environment.set("MASTER_PORT", "3x");
    CHECK(contains(env_failure(), "MASTER_PORT is \"3x\", which is not an integer"));
    environment.set("MASTER_PORT", "65536");
    CHECK(contains(env_failure(), "MASTER_PORT is 65536"));
    environment.set("MASTER_PORT", "29500");
    environment.set("MINI_STORE_COOKIE", "secret");
    CHECK(contains(env_failure(), "32 hexadecimal digits"));
}

TEST_CASE("tcp:// takes rank and world size from the options or from the query") {
    const RendezvousConfig a = rendezvous_config("tcp://localhost:1234", 1, 4);
    CHECK(a.rank == 1);
    CHECK(a.world_size == 4);
    const RendezvousConfig b =
        rendezvous_config("tcp://[::1]:1234?world_size=3&rank=2", -1, -1);
    CHECK(b.rank == 2);
    CHECK(b.world_size == 3);
    CHECK(b.master.host == "::1");

    CHECK(contains(url_failure("tcp://localhost?rank=0&world_size=1"),
                   "port number missing"));
    CHECK(
        contains(url_failure("tcp://localhost:99999?rank=0&world_size=1"), "0 .. 65535"));
    CHECK(contains(url_failure("tcp://localhost:80?rank=0"), "world_size is not given"));
    CHECK(contains(url_failure("tcp://localhost:80?world_size=1"), "rank is not given"));
    CHECK(contains(url_failure("tcp://localhost:80?rank=x&world_size=1"),
                   "not an integer"));
    CHECK(contains(url_failure("tcp://localhost:0?rank=0&world_size=2"),
                   "MASTER_PORT is 0"));
    CHECK(contains(url_failure("http://localhost:80"),
                   "UsageError: init_process_group: unknown init_method "
                   "\"http://localhost:80\"; use env://"));
    CHECK(contains(url_failure(""), "unknown init_method"));
}

TEST_CASE("all ranks can join in any order") {
    const int world_size = GENERATE(1, 2, 4, 7);
    const int port = free_port();
    std::vector<Rendezvous> results(static_cast<size_t>(world_size));
    const auto failures = on_ranks(world_size, [&](int rank) {
        results[static_cast<size_t>(rank)] =
            join_rendezvous(config_at(port, rank, world_size), deadline_after(kLong));
    });
    for (const auto& failure : failures) CHECK(text_of(failure).empty());
    CHECK(results[0].server != nullptr);
    results.back().store->set("hello", "from the last");
    CHECK(results[0].store->get("hello", deadline_after(kLong)) == "from the last");
    while (results.size() > 1) results.pop_back();
}

TEST_CASE(
    "if two ranks have different world sizes the error on every rank names both sizes") {
    const int port = free_port();
    const auto failures = on_ranks(2, [&](int rank) {
        join_rendezvous(config_at(port, rank, rank == 0 ? 2 : 3), deadline_after(kLong));
    });
    CAPTURE(text_of(failures[0]), text_of(failures[1]));
    CHECK(contains(text_of(failures[0]),
                   concat("was started with WORLD_SIZE 3, but rank 0 (process ",
                          ::getpid(), " on ")));
    CHECK(contains(text_of(failures[0]), ") with 2; start all ranks with the same"));
    CHECK(text_of(failures[1]) == text_of(failures[0]));
}

TEST_CASE("a rank that joins after the other ranks have failed throws the same error") {
    const int port = free_port();
    std::promise<void> known;
    const auto failures = on_ranks(3, [&](int rank) {
        if (rank == 2) known.get_future().wait();
        const auto join = [&] {
            join_rendezvous(config_at(port, rank, rank == 1 ? 4 : 3),
                            deadline_after(kLong));
        };
        if (rank != 1) return join();
        const std::string failure = failure_of(join);
        known.set_value();
        throw Error(failure);
    });
    for (const auto& failure : failures)
        CHECK(contains(text_of(failure), "was started with WORLD_SIZE 4, but rank 0 "));
}

TEST_CASE("unknown connections to a rank's port do not stop connect_mesh") {
    const TcpStoreServer server({"127.0.0.1", 0}, Cookie{});
    const Medium medium = GENERATE(Medium::kTcp, Medium::kAuto);
    Mesh mesh;
    std::thread rank0([&] {
        TcpStore store(server.address(), Cookie{}, deadline_after(kLong));
        mesh = connect_mesh(config_at(1, 0, 2), store, "127.0.0.1", medium,
                            deadline_after(kLong));
    });
    TcpStore store(server.address(), Cookie{}, deadline_after(kLong));
    std::istringstream entry(store.get("mesh/0", deadline_after(kLong)));
    std::string host, address;
    entry >> host >> address;
    const Address listener = parse_address(address);
    const Socket silent = connect_to(listener, deadline_after(kLong));
    const Socket noisy = connect_to(listener, deadline_after(kLong));
    const std::string noise(500, 'x');
    send_all(noisy, std::as_bytes(std::span(noise)), deadline_after(kLong));
    const Hello wrong =
        make_hello(Hello::Role::kMeshConnector, Cookie{std::byte{1}}, 1, 0);
    const Socket foreign = connect_to(listener, deadline_after(kLong));
    send_all(foreign, std::as_bytes(std::span(&wrong, 1)), deadline_after(kLong));

    const Mesh mine = connect_mesh(config_at(1, 1, 2), store, "127.0.0.1", medium,
                                   deadline_after(kLong));
    rank0.join();
    REQUIRE(mesh.streams[1].is_open());
    REQUIRE(mine.streams[0].is_open());
    CHECK(mesh.hosts == std::vector<int>{0, 0});
    if (medium == Medium::kTcp)
        CHECK(to_text(local_address(mine.streams[0].channel().socket())) ==
              to_text(peer_address(mesh.streams[1].channel().socket())));
}

TEST_CASE("a rank that is missing from the mesh is named") {
    const TcpStoreServer server({"127.0.0.1", 0}, Cookie{});
    TcpStore store(server.address(), Cookie{}, deadline_after(kLong));
    const std::string text = failure_of([&] {
        connect_mesh(config_at(1, 0, 3), store, "127.0.0.1", Medium::kAuto,
                     deadline_after(milliseconds(50)));
    });
    CHECK(contains(text, "Timeout: rank 0 waited for the address of rank 1, rank 2"));
}

namespace {

// A store that fails when it is asked for the address of a rank.
struct BrokenStore : TcpStore {
    using TcpStore::TcpStore;
    std::string get(const std::string&, Deadline) override {
        throw Error("the address of a rank is lost");
    }
};

}  // namespace

TEST_CASE("a rank that fails before its first connection is noticed by all other ranks") {
    // Rank 2 cannot listen, or it listens, but cannot get the other ranks' addresses.
    const bool listens = GENERATE(false, true);
    const TcpStoreServer server({"127.0.0.1", 0}, Cookie{});
    const auto failures = on_ranks(3, [&](int rank) {
        TcpStore store(server.address(), Cookie{}, deadline_after(kLong));
        BrokenStore broken(server.address(), Cookie{}, deadline_after(kLong));
        Store& own = rank == 2 && listens ? static_cast<Store&>(broken) : store;
        connect_mesh(config_at(1, rank, 3), own,
                     rank == 2 && !listens ? "node 0" : "127.0.0.1", Medium::kTcp,
                     deadline_after(kLong));
    });
    const std::string reason = listens ? "is lost" : "\"node 0\"";
    CHECK(contains(text_of(failures[2]), reason));
    for (const size_t rank : {0, 1}) {
        CAPTURE(rank, text_of(failures[rank]));
        CHECK(text_of(failures[rank]).starts_with("PeerLost(2): rank "));
        CHECK(contains(text_of(failures[rank]), "rank 2 failed: "));
        CHECK(contains(text_of(failures[rank]), reason));
    }
}

TEST_CASE("a process on this host that sends nothing is a Timeout") {
    const auto [socket, other] = mini::test::socket_pair();
    std::byte byte;
    const std::string text = failure_of([&socket = socket, &byte] {
        recv_all(socket, std::span(&byte, 1), deadline_after(milliseconds(10)));
    });
    CHECK(text == "Timeout: a process on this host sends no more bytes");
}

TEST_CASE("connecting to a rank that has left throws its failure or PeerLost") {
    const TcpStoreServer server({"127.0.0.1", 0}, Cookie{});
    TcpStore store(server.address(), Cookie{}, deadline_after(kLong));
    const Medium medium = GENERATE(Medium::kTcp, Medium::kAuto);
    for (const char* key : {"mesh/1", "mesh/2"})
        store.set(key, "elsewhere 127.0.0.1:1 -");
    const std::string first = failure_of([&] {
        connect_mesh(config_at(1, 0, 3), store, "127.0.0.1", medium,
                     deadline_after(milliseconds(50)));
    });
    CHECK(contains(first, "waited for a connection from rank 1, rank 2"));

    const auto connect_late = [&] {
        return failure_of([&] {
            connect_mesh(config_at(1, 1, 3), store, "127.0.0.1", medium,
                         deadline_after(milliseconds(3000)));
        });
    };
    const std::string second = connect_late();
    CAPTURE(second);
    CHECK(contains(second, "rank 0 reports: rank 0 waited for a connection from rank 1"));

    store.delete_key("mesh/failure");  // simulates that rank 0 was killed
    const std::string third = connect_late();
    CAPTURE(third);
    CHECK(contains(third,
                   "PeerLost(0): rank 0 is gone: it closed the connection to rank "
                   "1 during start-up ("));
    CHECK(contains(third, "Connection refused); its own output says why"));
}

TEST_CASE("if torchrun's own store uses MASTER_PORT our store uses another port") {
    ByMinirun environment;
    environment.set("TORCHELASTIC_RUN_ID", "none");
    environment.set("TORCHELASTIC_USE_AGENT_STORE", "False");
    CHECK(rendezvous_config("env://", -1, -1).master.port == 29500);
    environment.set("TORCHELASTIC_USE_AGENT_STORE", "True");
    const int port = rendezvous_config("env://", -1, -1).master.port;
    CHECK(port != 29500);
    CHECK(rendezvous_config("env://", 0, 2).master.port == port);
}

TEST_CASE("file:// takes an absolute path, rank and world size") {
    ByMinirun environment;
    const RendezvousConfig config =
        rendezvous_config("file:///tmp/x?rank=1&world_size=3", -1, -1);
    CHECK(config.file == "/tmp/x");
    CHECK(config.rank == 1);
    CHECK(config.world_size == 3);
    CHECK(config.run_id == "");
    CHECK(rendezvous_config("file:///tmp/x", 0, 2).world_size == 2);
    CHECK(contains(url_failure("file:///tmp/x"), "rank is not given"));
    CHECK(contains(url_failure("file://x?rank=0&world_size=1"),
                   "expected the absolute path of a file"));
    CHECK(contains(url_failure("file:///?rank=0&world_size=1"),
                   "expected the absolute path of a file"));
    CHECK(
        contains(url_failure("file:///tmp/?rank=0&world_size=1"), "file:///folder/name"));
    CHECK(contains(url_failure("file:///tmp/x?rank=2&world_size=2"), "RANK is 2"));

    environment.set("TORCHELASTIC_RUN_ID", "none");
    CHECK(rendezvous_config("file:///tmp/x", 0, 2).run_id == "");
    environment.set("TORCHELASTIC_RUN_ID", "job7");
    CHECK(rendezvous_config("file:///tmp/x", 0, 2).run_id == "job7/");
    environment.set("MINI_RUN_ID", "mine");
    CHECK(rendezvous_config("file:///tmp/x", 0, 2).run_id == "mine/");
    environment.set("MINI_ADVERTISE_ADDR", "127.0.0.3");
    CHECK(rendezvous_config("file:///tmp/x", 0, 2).advertise == "127.0.0.3");
}

TEST_CASE("a rank publishes its advertised address and listens without having it") {
    const Address master{"127.0.0.1", free_port()};
    const auto failures = on_ranks(2, [&](int rank) {
        RendezvousConfig config{master, rank, 2};
        config.advertise = "192.0.2.7";
        Rendezvous met = join_rendezvous(config, deadline_after(kLong));
        connect_mesh(config, *met.store, met.local_host, Medium::kTcp,
                     deadline_after(milliseconds(200)));
    });
    // Here no router forwards the address to rank 0.
    CHECK(contains(text_of(failures[1]), "no connection to 192.0.2.7:"));
    CHECK(contains(text_of(failures[0]), "waited for a connection from rank 1"));
}

TEST_CASE("the error for an address of another machine says what to do behind NAT") {
    const std::string text = failure_of([] { listen_on({"192.0.2.7", 0}); });
    CHECK(contains(text, "cannot listen on 192.0.2.7:0"));
    CHECK(contains(text, "MINI_ADVERTISE_ADDR"));
}

TEST_CASE("without the extra that reads files file:// is an error that names the extra") {
    const std::string text = failure_of([] {
        join_rendezvous(rendezvous_config("file:///tmp/x", 0, 1), deadline_after(kLong));
    });
    CHECK(contains(text, "UsageError: init_process_group: file:// needs the extra "));
    CHECK(contains(text, "extras::use_all()"));
}

TEST_CASE("a missing rank is distinguished from one that waits or has stopped") {
    HashStore store;
    store.set(registration_key(1), to_text(Registration{5, 71, "host", 1}));
    store.set(registration_key(2), to_text(Registration{5, 72, "host", 2}));
    store.set(joined_key(2), "");
    INFO("rank 0 and rank 3 have not registered, rank 1 has, rank 2 has joined");
    CHECK(missing_text(store, 0) == "rank 0");
    CHECK(missing_text(store, 3) == "rank 3");
    CHECK(missing_text(store, 2) == "");
    CHECK(missing_text(store, 1) == "");

    store.set(registration_key(0), to_text(Registration{5, 70, "host", 3}));
    INFO("now rank 0 has registered: rank 1 has nothing to wait for, and has stopped");
    CHECK(contains(missing_text(store, 1), "process 71"));
    CHECK(contains(missing_text(store, 0), "process 70"));
    store.set(joined_key(0), "");
    CHECK(missing_text(store, 0) == "");
}
