// Shared by the tests of libmini/distributed: ranks as threads over any transport, and
// their exceptions.

#pragma once

#include <chrono>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "libmini/distributed/backends/threads.hpp"
#include "libmini/distributed/backends/transport_backend.hpp"
#include "libmini/distributed/group/queued_group.hpp"
#include "libmini/distributed/transport/mesh.hpp"
#include "libmini/distributed/transport/mesh_transport.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/process_usage.hpp"

namespace mini::dist::test {

using mini::test::contains;
using mini::test::open_descriptors;
using mini::test::resident_bytes;
using std::chrono::milliseconds;
constexpr milliseconds kLong = std::chrono::seconds(30);

/// Returns a loopback port that no other test gets. Gloo's listeners bind any free port
/// and accept any client, so the ports to which other tests' ranks connect are reserved.
inline int free_port() {
    constexpr size_t kMaxHeld = 64;
    static std::mutex mutex;
    static std::deque<Socket> held;
    const std::lock_guard lock(mutex);
    held.push_back(reserve_port({"127.0.0.1", 0}));
    if (held.size() > kMaxHeld) held.pop_front();
    return local_address(held.back()).port;
}

inline RendezvousConfig config_of(int rank, int world_size) {
    return {{}, rank, world_size, Cookie{}, "", "", ""};
}

/// Calls body(rank) on one thread per rank; blocks until all have returned. Returns each
/// rank's exception, null if body(rank) did not throw.
inline std::vector<std::exception_ptr> on_ranks(int world_size,
                                                const std::function<void(int)>& body) {
    std::vector<std::exception_ptr> failures(static_cast<size_t>(world_size));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < world_size; ++rank)
        threads.emplace_back([&, rank] {
            try {
                body(rank);
            } catch (...) {
                failures[static_cast<size_t>(rank)] = std::current_exception();
            }
        });
    for (std::thread& thread : threads) thread.join();
    return failures;
}

/// Returns the type and the message of an exception, such as "PeerLost(2): ..." or
/// "Timeout: ..."; "" for null.
inline std::string text_of(const std::exception_ptr& failure) {
    if (!failure) return "";
    try {
        std::rethrow_exception(failure);
    } catch (const PeerLost& error) {
        return concat("PeerLost(", error.rank(), "): ", error.what());
    } catch (const Timeout& error) {
        return concat("Timeout: ", error.what());
    } catch (const MismatchedCollective& error) {
        return concat("MismatchedCollective: ", error.what());
    } catch (const UsageError& error) {
        return concat("UsageError: ", error.what());
    } catch (const std::exception& error) {
        return concat("Error: ", error.what());
    }
}

/// Calls body(rank) on one thread per rank; returns the text of each rank's exception.
inline std::vector<std::string> texts_of(int world_size,
                                         const std::function<void(int)>& body) {
    std::vector<std::string> texts;
    for (const auto& failure : on_ranks(world_size, body))
        texts.push_back(text_of(failure));
    return texts;
}

/// Runs `call`; returns text_of() its exception, "" if `call` does not throw.
inline std::string failure_of(const std::function<void()>& call) {
    try {
        call();
    } catch (...) {
        return text_of(std::current_exception());
    }
    return "";
}

/// Returns the bytes with which a rank reports a failure.
inline std::string report_bytes(Failure::Kind kind, int rank, const std::string& text) {
    const std::string payload = to_text(Failure{kind, rank, text});
    MessageHeader header;
    header.kind = MessageHeader::Kind::kFailure;
    header.payload_bytes = payload.size();
    return std::string(reinterpret_cast<const char*>(&header), sizeof header) + payload;
}

/// Sends `text` until the other side closes the connection.
inline void send_text(const Socket& socket, const std::string& text) {
    try {
        send_all(socket, std::as_bytes(std::span(text)), deadline_after(kLong));
    } catch (const ConnectionClosed&) {
    }
}

/// Each function returns a call with its own timeout, for ProcessGroup::start.
inline Call all_reduce_within(milliseconds timeout, const Tensor& x) {
    return {.operation = Operation::kAllReduce, .outputs = {x}, .timeout = timeout};
}
inline Call send_within(milliseconds timeout, const Tensor& x, int peer) {
    return {
        .operation = Operation::kSend, .inputs = {x}, .peer = peer, .timeout = timeout};
}
inline Call recv_within(milliseconds timeout, const Tensor& x, int peer) {
    return {
        .operation = Operation::kRecv, .outputs = {x}, .peer = peer, .timeout = timeout};
}

/// Returns one transport per rank. `kind`: "threads", or "tcp" or "shm" over loopback,
/// where `change` may replace the streams of a rank.
inline std::vector<std::unique_ptr<GroupTransport>> make_transports(
    const std::string& kind, int world_size,
    const std::function<void(int rank, std::vector<MessageStream>&)>& change = {}) {
    if (kind == "threads") return make_threads_transports(world_size);
    std::vector<std::unique_ptr<GroupTransport>> transports(
        static_cast<size_t>(world_size));
    const Medium medium = kind == "tcp" ? Medium::kTcp : Medium::kAuto;
    const TcpStoreServer server({"127.0.0.1", 0}, Cookie{});
    const auto failures = on_ranks(world_size, [&](int rank) {
        const Deadline deadline = deadline_after(kLong);
        TcpStore store(server.address(), Cookie{}, deadline);
        const RendezvousConfig config{server.address(), rank, world_size, Cookie{}};
        Mesh mesh = connect_mesh(config, store, store.local_host(), medium, deadline);
        if (change) change(rank, mesh.streams);
        transports[static_cast<size_t>(rank)] =
            std::make_unique<MeshTransport>(rank, std::move(mesh.streams));
    });
    for (const auto& failure : failures)
        if (failure) std::rethrow_exception(failure);
    return transports;
}

/// Returns one group per rank over the transports of make_transports.
inline std::vector<std::shared_ptr<QueuedGroup>> make_groups(
    const std::string& kind, int world_size, milliseconds timeout = kLong,
    const std::function<void(int rank, std::vector<MessageStream>&)>& change = {}) {
    std::vector<std::shared_ptr<QueuedGroup>> groups;
    for (auto& transport : make_transports(kind, world_size, change))
        groups.push_back(std::make_shared<QueuedGroup>(
            std::make_unique<TransportBackend>(kind, std::move(transport)), timeout));
    return groups;
}

}  // namespace mini::dist::test
