// Targets of the store: the bytes that its server and its clients receive, and the log of
// a FileStore.

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/distributed/net/hello.hpp"
#include "libmini/distributed/store/store_protocol.hpp"
#include "libmini/distributed/store/store_service.hpp"
#include "libmini/distributed/store/tcp_store.hpp"
#include "libmini/distributed/store/tcp_store_server.hpp"
#include "libmini/extras/launchers/file_store.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/read_file.hpp"

namespace mini::fuzz {
namespace {

using dist::Hello;
using dist::protocol::Command;
using dist::protocol::Status;

// ---- a sequence of requests, without sockets

void run_store_requests(Input input) {
    std::string bytes = text_of(input);
    dist::StoreTable table;
    while (auto request = dist::protocol::take_request(bytes)) {
        if (request->command == Command::kGet || request->command == Command::kWait)
            continue;  // the server handles these
        try {
            dist::carry_out(std::move(*request), table);
        } catch (const Error&) {  // rejected with a reason
        }
    }
}

// Returns all requests together, and each alone.
Seeds request_seeds() {
    Seeds seeds(1);
    for (const dist::protocol::Request& request : std::vector<dist::protocol::Request>{
             {0, Command::kSet, "rank0", "value", ""},
             {1, Command::kAdd, "n", "5", ""},
             {2, Command::kGet, "rank0", "", ""},
             {3, Command::kCompareSet, "rank0", "other", "value"},
             {4, Command::kCheck, "n", "", ""},
             {5, Command::kAdd, "rank0", "-1", ""},
             {6, Command::kNumKeys, "", "", ""},
             {7, Command::kErase, "n", "", ""},
             {8, Command::kWait, "missing", "", ""}}) {
        seeds.push_back(dist::protocol::to_bytes(request));
        seeds[0] += seeds.back();
    }
    return seeds;
}

// ---- the server over TCP: the input is all bytes of one connection

void run_store_server(Input input) {
    dist::TcpStoreServer server({"127.0.0.1", 0}, dist::Cookie{});
    const dist::Deadline deadline = dist::deadline_after(kPatience);
    const dist::Socket client = dist::connect_to(server.address(), deadline);
    try {
        dist::send_all(client, input, deadline);
        ::shutdown(client.fd(), SHUT_WR);
        std::array<std::byte, 1024> answers;
        while (dist::wait_for(client, POLLIN, deadline)) dist::recv_some(client, answers);
    } catch (const dist::ConnectionClosed&) {  // expected
    }
    require(!dist::has_passed(deadline), "the server keeps a closed connection");
    require(server.wait_until_alone(deadline), "the server still counts a client");

    // Other clients are not affected.
    require_success([&] {
        dist::TcpStore other(server.address(), dist::Cookie{}, deadline);
        other.num_keys();
    });
}

Seeds server_seeds() {
    const std::string hello = text_of_object(
        dist::make_hello(Hello::Role::kStoreClient, dist::Cookie{}, -1, 0));
    Seeds seeds = request_seeds();
    for (std::string& seed : seeds) seed = hello + seed;
    seeds.push_back("GET / HTTP/1.1\r\nHost: node01\r\n\r\n");
    return seeds;
}

// ---- the replies that a client reads, after the server's Hello

void run_store_client(Input input) {
    const Hello hello =
        dist::make_hello(Hello::Role::kStoreServer, dist::Cookie{}, 0, -1);
    const std::string bytes = text_of_object(hello) + text_of(input);
    Connection connection(bytes_of(bytes));
    const dist::Deadline deadline = dist::deadline_after(kPatience);
    dist::TcpStore store(std::move(connection.mine), {"server", 1}, dist::Cookie{},
                         deadline);

    // The stream ends after the last reply, so that every call returns.
    bool all_answered = true;
    const auto ask = [&](const std::function<void()>& call) {
        try {
            call();
        } catch (const Error&) {
            all_answered = false;
        }
    };
    ask([&] { store.set("a", "b"); });
    ask([&] { store.get("a", deadline); });
    ask([&] { store.add("n", 1); });
    ask([&] { store.num_keys(); });
    ask([&] { store.check("a"); });
    ask([&] { store.compare_set("a", "b", "c"); });
    require(!dist::has_passed(deadline), "a client waits for a server that is gone");
    if (!all_answered) throw Error("a call failed");
}

Seeds reply_seeds() {
    const auto replies = [](const std::vector<std::string>& values, Status status) {
        std::string bytes;
        uint32_t id = 0;
        for (const std::string& value : values)
            bytes += dist::protocol::to_bytes(dist::protocol::Reply{id++, status, value});
        return bytes;
    };
    return {replies({"", "b", "-3", "2", "1", "1", "c"}, Status::kDone),
            replies({"", "b", "99999999999999999999", " 2", "", "", ""}, Status::kDone),
            replies({"the store is full", "no"}, Status::kRefused)};
}

// ---- the log of a FileStore, after its first line

void run_file_store(Input input) {
    static const test::Folder folder;
    const std::string path = folder / "store";
    dist::FileStore store(path);
    std::ofstream(path, std::ios::binary | std::ios::app) << text_of(input);

    // If the log is valid, records appended to it are read back.
    store.num_keys();
    store.set("key", "value");
    require(store.get("key", dist::deadline_after(kPatience)) == "value", "a lost value");
    store.add("number", 1);
}

Seeds file_store_seeds() {
    constexpr std::string_view kFirstLine = "libmini file store 1\n";
    const test::Folder folder;
    dist::FileStore store(folder / "store");
    store.set("rank0", "here");
    store.add("joined", 2);
    store.compare_set("rank0", "here", "");
    store.delete_key("rank0");
    return {test::read_file(folder / "store").substr(kFirstLine.size())};
}

}  // namespace

std::vector<Target> store_targets() {
    return {{"store_requests", run_store_requests, request_seeds()},
            {"store_server", run_store_server, server_seeds()},
            {"store_client", run_store_client, reply_seeds()},
            {"file_store", run_file_store, file_store_seeds()}};
}

}  // namespace mini::fuzz
