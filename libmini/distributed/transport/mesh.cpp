#include "libmini/distributed/transport/mesh.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <list>
#include <new>
#include <span>
#include <sstream>
#include <string>

#include "libmini/distributed/net/local_socket.hpp"
#include "libmini/distributed/net/poll_until.hpp"
#include "libmini/distributed/transport/mesh_transport.hpp"
#include "libmini/distributed/transport/ring_channel.hpp"
#include "libmini/distributed/transport/shared_memory.hpp"
#include "libmini/distributed/transport/socket_channel.hpp"

namespace mini::dist {
namespace {

// The handshake timeout, and the maximum number of connections in their handshake.
constexpr std::chrono::milliseconds kHelloTime(2000);
constexpr size_t kMaxPending = 64;

constexpr const char* kNoDescriptors =
    " This process has no descriptors left for connections; raise ulimit -n.";

std::string address_key(int rank) { return concat("mesh/", rank); }

// The key of the failure that the first failing rank reports, for ranks that are not
// connected to this rank yet.
const char* const kFailure = "mesh/failure";

// The addresses at which a rank listens.
struct Endpoint {
    std::string host;
    Address address;
    std::string local_name;  // "-" if it uses TCP only
    uint64_t token = 0;      // random; identifies the rank's listener
};

std::string to_text(const Endpoint& endpoint) {
    return concat(endpoint.host, " ", to_text(endpoint.address), " ", endpoint.local_name,
                  " ", endpoint.token);
}

Endpoint parse_endpoint(const std::string& text) {
    std::istringstream in(text);
    Endpoint endpoint;
    std::string address;
    in >> endpoint.host >> address >> endpoint.local_name >> endpoint.token;
    endpoint.address = parse_address(address);
    return endpoint;
}

bool share_memory(const Endpoint& a, const Endpoint& b) {
    return a.host == b.host && a.local_name != "-" && b.local_name != "-" &&
           belong_to_one_user(a.local_name, b.local_name);
}

// ---- the rank that connects

// Receives the Hello of the rank that accepts, and its heap if there are heaps.
std::unique_ptr<PeerHeap> recv_answer(const Socket& socket, std::span<std::byte> reply,
                                      bool has_heaps, Deadline deadline) {
    std::vector<Socket> descriptors;
    while (!reply.empty()) {
        const size_t n = recv_with_descriptors(socket, reply, descriptors);
        reply = reply.subspan(n);
        if (n == 0 && !wait_for(socket, POLLIN, deadline))
            throw Timeout("it does not answer");
    }
    if (!has_heaps) return nullptr;
    if (descriptors.size() != 1) throw ConnectionClosed("it shares no memory");
    return std::make_unique<PeerHeap>(std::move(descriptors.front()));
}

// Connects, exchanges Hellos and, within a host, exchanges the descriptors of shared
// memory. Returns the channel, and the peer's Hello in `answer`. `heap` is this rank's.
std::unique_ptr<Channel> greet(const Endpoint& mine, const Endpoint& theirs,
                               const Hello& hello, const SharedHeap* heap,
                               Deadline deadline, Hello& answer) {
    const auto greeting = std::as_bytes(std::span(&hello, 1));
    const auto reply = std::as_writable_bytes(std::span(&answer, 1));
    if (!share_memory(mine, theirs)) {
        Socket socket = connect_to(theirs.address, deadline, Refusal::kNoMore);
        send_all(socket, greeting, deadline);
        recv_all(socket, reply, deadline);
        return std::make_unique<SocketChannel>(std::move(socket));
    }
    Socket socket = connect_locally(theirs.local_name, deadline);
    NewSharedMemory shared = make_shared_memory(RingChannel::memory_bytes());
    std::vector<int> descriptors = {shared.descriptor.fd()};
    if (heap != nullptr) descriptors.push_back(heap->descriptor().fd());
    send_with_descriptors(socket, greeting, descriptors);
    auto their_heap = recv_answer(socket, reply, heap != nullptr, deadline);
    return std::make_unique<RingChannel>(std::move(socket), std::move(shared.memory),
                                         RingChannel::Side::kFirst,
                                         std::move(their_heap));
}

MessageStream connect_to_rank(int peer, const RendezvousConfig& config,
                              const Endpoint& mine, const Endpoint& theirs,
                              const SharedHeap* heap, Deadline deadline) {
    try {
        const Hello hello = make_hello(Hello::Role::kMeshConnector, config.cookie,
                                       config.rank, peer, theirs.token);
        Hello answer;
        auto channel = greet(mine, theirs, hello, heap, deadline, answer);
        const std::string fault = hello_error(answer, hello);
        if (!fault.empty())
            throw PeerLost(peer,
                           concat("rank ", peer, " is gone: another program listens at ",
                                  to_text(theirs.address), " now: ", fault));
        return MessageStream(std::move(channel));
    } catch (const ConnectionClosed& closed) {
        throw PeerLost(
            peer, concat("rank ", peer, " is gone: it closed the connection to rank ",
                         config.rank, " during start-up (", closed.what(),
                         "); its own output says why"));
    } catch (const Timeout& timeout) {
        throw Timeout(concat("rank ", config.rank, " could not connect to rank ", peer,
                             ": ", timeout.what()));
    }
}

// ---- the rank that accepts

// A connection whose Hello is incomplete.
struct PendingConnection {
    Socket socket;
    bool is_local = false;
    Deadline deadline;
    Hello hello;
    size_t received = 0;
    std::vector<Socket> descriptors;  // of the connection's memory, and of the heap
};

// Reads the Hello. Returns the rank of the peer; -1 while the Hello is incomplete. Throws
// ConnectionClosed for an invalid Hello.
int identify(PendingConnection& connection, const Hello& mine, int world_size) {
    auto rest = std::as_writable_bytes(std::span(&connection.hello, 1))
                    .subspan(connection.received);
    connection.received +=
        connection.is_local
            ? recv_with_descriptors(connection.socket, rest, connection.descriptors)
            : recv_some(connection.socket, rest);
    if (connection.received < sizeof(Hello)) return -1;
    const int rank = rank_of_connector(connection.hello, mine, world_size);
    if (rank < 0) throw ConnectionClosed("an invalid Hello");
    return rank;
}

std::unique_ptr<Channel> channel_of(PendingConnection& connection, bool has_heaps) {
    if (!connection.is_local)
        return std::make_unique<SocketChannel>(std::move(connection.socket));
    if (connection.descriptors.size() != (has_heaps ? 2 : 1))
        throw ConnectionClosed("it shares no memory");
    return std::make_unique<RingChannel>(
        std::move(connection.socket),
        map_shared_memory(connection.descriptors[0], RingChannel::memory_bytes()),
        RingChannel::Side::kSecond,
        has_heaps ? std::make_unique<PeerHeap>(std::move(connection.descriptors[1]))
                  : nullptr);
}

void send_answer(const PendingConnection& connection, std::span<const std::byte> answer,
                 const SharedHeap* heap, Deadline deadline) {
    if (!connection.is_local || heap == nullptr)
        return send_all(connection.socket, answer, deadline);
    const int descriptor = heap->descriptor().fd();
    send_with_descriptors(connection.socket, answer, {&descriptor, 1});
}

// Reads once from each pending connection. Turns the connection of a rank into the rank's
// stream. Drops a connection with an invalid Hello, and a connection whose Hello is late.
void serve_pending(std::list<PendingConnection>& pending,
                   std::vector<MessageStream>& streams, const Hello& mine,
                   const SharedHeap* heap, Deadline deadline) {
    const int world_size = static_cast<int>(streams.size());
    std::erase_if(pending, [&](PendingConnection& connection) {
        try {
            const int peer = identify(connection, mine, world_size);
            if (peer < 0) return has_passed(connection.deadline);
            MessageStream& stream = streams[static_cast<size_t>(peer)];
            if (stream.is_open()) return true;
            const Hello answer =
                make_hello(mine.role, mine.cookie, mine.rank, peer, mine.token);
            send_answer(connection, std::as_bytes(std::span(&answer, 1)), heap, deadline);
            stream = MessageStream(channel_of(connection, heap != nullptr));
            return true;
        } catch (const ConnectionClosed&) {
            return true;
        } catch (const std::bad_alloc&) {  // drop this connection, but do not fail
            return true;
        }
    });
}

void accept_connection(Acceptor& acceptor, bool is_local,
                       std::list<PendingConnection>& pending) {
    // A rank sends its Hello immediately, so the oldest pending connection is rarely the
    // connection of a rank.
    const auto drop_oldest = [&] {
        if (pending.empty()) return false;
        pending.pop_front();
        return true;
    };
    Socket socket = acceptor.accept(drop_oldest);
    if (!socket.is_open() || (is_local && !is_same_user(socket))) return;
    if (pending.size() >= kMaxPending) drop_oldest();
    PendingConnection& connection = pending.emplace_back();
    connection.socket = std::move(socket);
    connection.is_local = is_local;
    connection.deadline = deadline_after(kHelloTime);
}

// If a connected rank is gone, throws the failure that this rank reported, else PeerLost:
// the mesh can never be complete.
void check_still_there(std::vector<MessageStream>& streams, int rank) {
    for (size_t peer = 0; peer < streams.size(); ++peer) {
        if (!streams[peer].is_open()) continue;
        pollfd entry{streams[peer].channel().poll_fd(), POLLRDHUP, 0};
        if (poll_until({&entry, 1}, Clock::now()) <= 0) continue;
        bool closed = false;
        const int lost = static_cast<int>(peer);
        const auto report =
            streams[peer].final_message(deadline_after(kFinalMessageTime), closed);
        if (report) throw_failure(reported(*report, lost));
        throw PeerLost(lost, concat("rank ", lost, " is gone: its connection to rank ",
                                    rank, " closed during start-up"));
    }
}

void report_failure(Store& store, int rank, const Failure& failure) {
    try {
        const auto kind = static_cast<int>(failure.kind);
        store.compare_set(kFailure, "",
                          concat(rank, " ", kind, " ", failure.rank, " ",
                                 failure.message.substr(0, kMaxFailureBytes)));
    } catch (const Error&) {  // the store is gone: the other ranks detect this themselves
    }
}

// Throws the failure that another rank has reported in the store, if there is one.
void check_reported_failure(Store& store) {
    std::string text;
    try {
        if (store.check(kFailure)) text = store.get(kFailure, deadline_after(kHelloTime));
    } catch (const Error&) {  // the store is gone
    }
    std::istringstream in(text);
    int reporter = -1, kind = -1;
    Failure failure;
    if (!(in >> reporter >> kind >> failure.rank)) return;
    failure.kind = static_cast<Failure::Kind>(kind);
    std::getline(in.ignore(), failure.message);
    throw_failure(reported(failure, reporter));
}

// Accepts connections until every higher rank is connected.
void accept_higher_ranks(Acceptor& tcp_acceptor, Acceptor& local_acceptor,
                         std::vector<MessageStream>& streams, const Hello& mine,
                         const SharedHeap* heap, Deadline deadline) {
    std::list<PendingConnection> pending;
    const int world_size = static_cast<int>(streams.size());
    while (true) {
        const std::string missing = missing_ranks(
            mine.rank + 1, world_size,
            [&](int peer) { return streams[static_cast<size_t>(peer)].is_open(); });
        if (missing.empty()) return;
        check_still_there(streams, mine.rank);
        if (has_passed(deadline))
            throw Timeout(concat("rank ", mine.rank, " waited for a connection from ",
                                 missing, "; did it start, and can it reach ",
                                 to_text(local_address(tcp_acceptor.listener())), "?",
                                 tcp_acceptor.is_paused() || local_acceptor.is_paused()
                                     ? kNoDescriptors
                                     : ""));

        std::vector<pollfd> entries = {{tcp_acceptor.poll_fd(), POLLIN, 0},
                                       {local_acceptor.poll_fd(), POLLIN, 0}};
        for (const PendingConnection& connection : pending)
            entries.push_back({connection.socket.fd(), POLLIN, 0});
        for (const MessageStream& stream : streams)
            if (stream.is_open())
                entries.push_back({stream.channel().poll_fd(), POLLRDHUP, 0});
        const Deadline next_check = std::min(deadline, deadline_after(kHelloTime / 4));
        poll_until(entries, local_acceptor.next_turn(tcp_acceptor.next_turn(next_check)));

        accept_connection(tcp_acceptor, /*is_local=*/false, pending);
        accept_connection(local_acceptor, /*is_local=*/true, pending);
        serve_pending(pending, streams, mine, heap, deadline);
    }
}

// Returns the addresses of all ranks; blocks until all have published theirs.
std::vector<Endpoint> get_endpoints(const RendezvousConfig& config, Store& store,
                                    Deadline deadline) {
    std::vector<Endpoint> endpoints;
    try {
        for (int rank = 0; rank < config.world_size; ++rank)
            endpoints.push_back(parse_endpoint(store.get(address_key(rank), deadline)));
        return endpoints;
    } catch (const Timeout&) {
        const std::string missing = missing_ranks(0, config.world_size, [&](int rank) {
            return store.check(address_key(rank));
        });
        throw Timeout(concat("rank ", config.rank, " waited for the address of ", missing,
                             "; did it start?"));
    }
}

// Returns the number of each rank's host, by rank: the lowest rank on this host.
std::vector<int> number_hosts(const std::vector<Endpoint>& endpoints) {
    std::vector<int> hosts;
    for (const Endpoint& endpoint : endpoints) {
        size_t first = 0;
        while (endpoints[first].host != endpoint.host) ++first;
        hosts.push_back(static_cast<int>(first));
    }
    return hosts;
}

void check_medium(Medium medium, const std::vector<Endpoint>& endpoints, int rank) {
    if (medium != Medium::kSharedMemory) return;
    const Endpoint& mine = endpoints[static_cast<size_t>(rank)];
    for (size_t other = 0; other < endpoints.size(); ++other)
        MINI_CHECK(share_memory(mine, endpoints[other]), "ranks ", rank, " and ", other,
                   mine.host == endpoints[other].host ? " run as different users"
                                                      : " are on different hosts",
                   " and cannot share memory; use --medium auto");
}

}  // namespace

int rank_of_connector(const Hello& theirs, const Hello& mine, int world_size) {
    const bool is_higher_rank = theirs.rank > mine.rank && theirs.rank < world_size;
    return is_higher_rank && hello_error(theirs, mine).empty() ? theirs.rank : -1;
}

Mesh connect_mesh(const RendezvousConfig& config, Store& store,
                  const std::string& local_host, Medium medium, Deadline deadline) {
    // Listen, and publish an address at which other ranks can reach this rank: the local
    // address of the connection to the store, or the advertised address.
    await_name({local_host, 0}, deadline);
    Acceptor tcp_acceptor(listen_for(local_host));
    const Address published{local_host, local_address(tcp_acceptor.listener()).port};
    const bool has_tcp_only = medium == Medium::kTcp;
    const std::string name = has_tcp_only ? "-" : random_local_name();
    Acceptor local_acceptor(has_tcp_only ? Socket() : listen_locally(name));
    const Endpoint mine{system().host_id(), published, name, system().random_number()};
    const Hello hello = make_hello(Hello::Role::kMeshAcceptor, config.cookie, config.rank,
                                   -1, mine.token);
    store.set(address_key(config.rank), to_text(mine));

    const std::vector<Endpoint> endpoints = get_endpoints(config, store, deadline);
    const bool has_heaps = !has_tcp_only && config.world_size <= kMaxHeapRanks;
    Mesh mesh{std::vector<MessageStream>(endpoints.size()), number_hosts(endpoints),
              has_heaps ? std::make_shared<SharedHeap>() : nullptr};
    check_medium(medium, endpoints, config.rank);

    const auto connect_all = [&] {
        for (int peer = 0; peer < config.rank; ++peer) {
            const auto p = static_cast<size_t>(peer);
            try {
                mesh.streams[p] = connect_to_rank(peer, config, mine, endpoints[p],
                                                  mesh.heap.get(), deadline);
            } catch (const PeerLost&) {  // the cause may be another rank, lost earlier
                check_still_there(mesh.streams, config.rank);
                check_reported_failure(store);
                throw;
            }
        }
        accept_higher_ranks(tcp_acceptor, local_acceptor, mesh.streams, hello,
                            mesh.heap.get(), deadline);
    };
    try {
        connect_all();
    } catch (const Error&) {  // report the failure to the ranks that wait for this rank
        const Failure failure = current_failure();
        report_failure(store, config.rank, failure);
        try {
            MeshTransport(config.rank, std::move(mesh.streams)).leave(failure);
        } catch (const Error&) {  // no descriptor for MeshTransport: keep the first error
        }
        throw;
    }
    return mesh;
}

}  // namespace mini::dist
