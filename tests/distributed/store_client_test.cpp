// TcpStore with a server that sends invalid replies or no reply.

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libmini/distributed/store/store_protocol.hpp"
#include "libmini/distributed/store/tcp_store.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

// The server's side of one connection; the test decides what it sends.
struct FakeServer {
    Socket listener = listen_on({"127.0.0.1", 0});
    Socket end;

    // Returns a client that has completed the handshake.
    std::unique_ptr<TcpStore> connect() {
        auto client = std::async(std::launch::async, [this] {
            return std::make_unique<TcpStore>(local_address(listener), Cookie{},
                                              deadline_after(kLong));
        });
        wait_for(listener, POLLIN, deadline_after(kLong));
        end = accept_from(listener);
        Hello hello;
        recv_all(end, std::as_writable_bytes(std::span(&hello, 1)),
                 deadline_after(kLong));
        hello = make_hello(Hello::Role::kStoreServer, Cookie{}, 0, -1);
        send_all(end, std::as_bytes(std::span(&hello, 1)), deadline_after(kLong));
        return client.get();
    }

    void send(const std::string& bytes) const {
        send_all(end, std::as_bytes(std::span(bytes)), deadline_after(kLong));
    }
};

}  // namespace

TEST_CASE(
    "a store that has sent only a part of a request closes its connection permanently") {
    FakeServer server;
    const auto store = server.connect();
    store->set_timeout(milliseconds(100));
    const std::string value(kMaxValueBytes, 'v');
    CHECK(contains(failure_of([&] { store->set("big", value); }),
                   "Timeout: the store at " + to_text(local_address(server.listener))));

    // Continue to read on the server's side: only a part of the first request and the end
    // of the stream may arrive.
    size_t received = 0;
    std::vector<std::byte> buffer(1 << 20);
    auto reading = std::async(std::launch::async, [&] {
        return failure_of([&] {
            while (wait_for(server.end, POLLIN, deadline_after(kLong)))
                received += recv_some(server.end, buffer);
        });
    });
    for (int i = 0; i < 2; ++i) {
        const std::string text = failure_of([&] { store->set("next", "small"); });
        CAPTURE(text);
        CHECK(contains(text, "Timeout: the connection to the store at "));
        CHECK(contains(text, "was closed when an earlier call failed: "));
        CHECK(contains(text, "takes no more bytes"));
    }
    CHECK(contains(reading.get(), "the other side closed the connection"));
    CHECK(received > 0);
    CHECK(received < kMaxValueBytes);
}

TEST_CASE("if a reply should be a number and is not the error shows the reply") {
    FakeServer server;
    const auto store = server.connect();
    uint32_t id = 0;
    for (const char* const answer : {"", "abc", "7x", "99999999999999999999"}) {
        CAPTURE(answer);
        const std::string error =
            concat("answered \"", answer, "\" where a number was expected");
        server.send(to_bytes(protocol::Reply{id++, protocol::Status::kDone, answer}));
        CHECK(contains(failure_of([&] { store->add("key", 1); }), error));
        server.send(to_bytes(protocol::Reply{id++, protocol::Status::kDone, answer}));
        CHECK(contains(failure_of([&] { store->num_keys(); }), error));
    }

    // After these errors each request still gets its own reply.
    server.send(to_bytes(protocol::Reply{id++, protocol::Status::kDone, "-3"}));
    CHECK(store->add("key", 1) == -3);
    server.send(to_bytes(protocol::Reply{id++, protocol::Status::kRefused, "no"}));
    CHECK(contains(failure_of([&] { store->add("key", 1); }), ": no"));
}

TEST_CASE("an invalid reply closes the connection and later calls report it") {
    FakeServer server;
    const auto store = server.connect();
    const protocol::ReplyHead head{0, protocol::Status::kDone, 0xffffffffu};
    server.send(std::string(reinterpret_cast<const char*>(&head), sizeof head));
    const std::string error = "sent a reply of status 0 with 4294967295 bytes";
    CHECK(contains(failure_of([&] { store->check("key"); }), error));
    const std::string later = failure_of([&] { store->check("key"); });
    CHECK(contains(later, "was closed when an earlier call failed: "));
    CHECK(contains(later, error));
}
