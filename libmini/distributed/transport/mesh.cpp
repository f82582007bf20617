#include "libmini/distributed/transport/mesh.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <list>
#include <memory>
#include <new>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "libmini/distributed/net/local_socket.hpp"
#include "libmini/distributed/net/poll_until.hpp"
#include "libmini/distributed/transport/mesh_failure.hpp"
#include "libmini/distributed/transport/ring_channel.hpp"
#include "libmini/distributed/transport/shared_memory.hpp"
#include "libmini/distributed/transport/socket_channel.hpp"

namespace mini::dist {
namespace {

// The handshake timeout, and the maximum number of connections in their handshake.
constexpr std::chrono::milliseconds kHelloTime(2000);
constexpr size_t kMaxPending = 64;

// How long a rank tries to accept a connection without a free descriptor.
constexpr std::chrono::milliseconds kStarvedTime(2000);

constexpr const char* kNoDescriptors =
    " This process has no descriptors left for connections; raise ulimit -n.";

std::string address_key(int rank) { return concat("mesh/", rank); }

// The addresses at which a rank listens, as it publishes them in the store.
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

// Returns whether two ranks can share memory: both are on one host and belong to one user.
bool share_memory(const Endpoint& a, const Endpoint& b) {
    return a.host == b.host && a.local_name != "-" && b.local_name != "-" &&
           belong_to_one_user(a.local_name, b.local_name);
}

// What this rank needs to connect to the others.
struct ThisRank {
    const RendezvousConfig& config;
    Store& store;
    Deadline deadline;
    Endpoint endpoint;
};

// ---- the rank that connects

// Connects, exchanges Hellos and, within a host, sends the descriptor of shared memory.
// Returns the channel, and the peer's Hello in `answer`.
std::unique_ptr<Channel> greet(const ThisRank& mine, const Endpoint& theirs,
                               const Hello& hello, Hello& answer) {
    const auto greeting = std::as_bytes(std::span(&hello, 1));
    const auto reply = std::as_writable_bytes(std::span(&answer, 1));
    if (!share_memory(mine.endpoint, theirs)) {
        Socket socket = connect_to(theirs.address, mine.deadline, Refusal::kNoMore);
        send_all(socket, greeting, mine.deadline);
        recv_all(socket, reply, mine.deadline);
        return std::make_unique<SocketChannel>(std::move(socket));
    }
    Socket socket = connect_locally(theirs.local_name, mine.deadline);
    if (!is_same_user(socket))
        throw ConnectionClosed("a process of another user listens at its address");
    const int world_size = mine.config.world_size;
    NewSharedMemory shared = make_shared_memory(RingChannel::memory_bytes(world_size));
    send_with_descriptor(socket, greeting, shared.descriptor.fd());
    recv_all(socket, reply, mine.deadline);
    return std::make_unique<RingChannel>(std::move(socket), std::move(shared.memory),
                                         RingChannel::Side::kFirst, world_size);
}

MessageStream connect_to_rank(int peer, const ThisRank& mine, const Endpoint& theirs) {
    const RendezvousConfig& config = mine.config;
    try {
        const Hello hello = make_hello(Hello::Role::kMeshConnector, config.cookie,
                                       config.rank, peer, theirs.token);
        Hello answer;
        auto channel = greet(mine, theirs, hello, answer);
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
    Socket memory;  // the descriptor of the connection's memory
};

// Reads the Hello. Returns the rank of the peer; -1 while the Hello is incomplete. Throws
// ConnectionClosed for an invalid Hello.
int identify(PendingConnection& connection, const Hello& mine, int world_size) {
    auto rest = std::as_writable_bytes(std::span(&connection.hello, 1))
                    .subspan(connection.received);
    connection.received +=
        connection.is_local
            ? recv_with_descriptor(connection.socket, rest, connection.memory)
            : recv_some(connection.socket, rest);
    if (connection.received < sizeof(Hello)) return -1;
    const int rank = rank_of_connector(connection.hello, mine, world_size);
    if (rank < 0) throw ConnectionClosed("an invalid Hello");
    return rank;
}

// Turns the connection of rank `peer` into its stream. Sends the Hello last: then the other
// side believes that it is connected.
MessageStream welcome(PendingConnection& connection, int peer, const ThisRank& mine,
                      const Hello& hello) {
    const int world_size = mine.config.world_size;
    std::shared_ptr<Memory> memory;
    if (connection.is_local) {
        if (!connection.memory.is_open()) throw ConnectionClosed("it shares no memory");
        try {
            memory = map_shared_memory(connection.memory,
                                       RingChannel::memory_bytes(world_size));
        } catch (const Error& error) {
            throw Error(concat("rank ", peer, " shares other memory with rank ",
                               hello.rank, " (", error.what(),
                               "); start all ranks with the same extras"));
        }
    }
    const Hello answer =
        make_hello(hello.role, hello.cookie, hello.rank, peer, hello.token);
    send_all(connection.socket, std::as_bytes(std::span(&answer, 1)), mine.deadline);
    if (!connection.is_local)
        return MessageStream(
            std::make_unique<SocketChannel>(std::move(connection.socket)));
    return MessageStream(
        std::make_unique<RingChannel>(std::move(connection.socket), std::move(memory),
                                      RingChannel::Side::kSecond, world_size));
}

// Reads once from each pending connection. Turns the connection of a rank into the rank's
// stream. Drops a connection with an invalid Hello, and a connection whose Hello is late.
void serve_pending(std::list<PendingConnection>& pending,
                   std::vector<MessageStream>& streams, const ThisRank& mine,
                   const Hello& hello) {
    const int world_size = static_cast<int>(streams.size());
    std::erase_if(pending, [&](PendingConnection& connection) {
        try {
            const int peer = identify(connection, hello, world_size);
            if (peer < 0) return has_passed(connection.deadline);
            MessageStream& stream = streams[static_cast<size_t>(peer)];
            if (!stream.is_open()) stream = welcome(connection, peer, mine, hello);
            return true;
        } catch (const ConnectionClosed&) {
            return true;
        } catch (const std::bad_alloc&) {  // drop this connection, but do not fail
            return true;
        }
    });
}

// Accepts a connection. Returns false if this process has no descriptor left for it.
bool accept_connection(const Socket& listener, bool is_local,
                       std::list<PendingConnection>& pending) {
    // A rank sends its Hello immediately, so the oldest pending connection is rarely the
    // connection of a rank.
    bool is_starved = false;
    Socket socket = accept_from(listener, [&] {
        is_starved = pending.empty();
        if (!is_starved) pending.pop_front();
        return !is_starved;
    });
    if (!socket.is_open() || (is_local && !is_same_user(socket))) return !is_starved;
    if (pending.size() >= kMaxPending) pending.pop_front();
    PendingConnection& connection = pending.emplace_back();
    connection.socket = std::move(socket);
    connection.is_local = is_local;
    connection.deadline = deadline_after(kHelloTime);
    return true;
}

// The sockets at which a rank listens.
struct Listeners {
    Socket tcp, local;
};

[[noreturn]] void throw_missing(const ThisRank& mine, const std::string& missing,
                                bool is_starved) {
    throw Timeout(concat("rank ", mine.config.rank, " waited for a connection from ",
                         missing, "; did it start, and can it reach ",
                         to_text(mine.endpoint.address), "?",
                         is_starved ? kNoDescriptors : ""));
}

// Returns the sockets to poll: first the two listeners.
std::vector<pollfd> entries_of(const Listeners& listeners,
                               const std::list<PendingConnection>& pending,
                               const std::vector<MessageStream>& streams) {
    std::vector<pollfd> entries = {{listeners.tcp.fd(), POLLIN, 0},
                                   {listeners.local.fd(), POLLIN, 0}};
    for (const PendingConnection& connection : pending)
        entries.push_back({connection.socket.fd(), POLLIN, 0});
    for (const MessageStream& stream : streams)
        if (stream.is_open())
            entries.push_back({stream.channel().poll_fd(), POLLRDHUP, 0});
    return entries;
}

// Accepts connections until every higher rank is connected.
void accept_higher_ranks(const Listeners& listeners, std::vector<MessageStream>& streams,
                         const ThisRank& mine) {
    const RendezvousConfig& config = mine.config;
    const Hello hello = make_hello(Hello::Role::kMeshAcceptor, config.cookie, config.rank,
                                   -1, mine.endpoint.token);
    std::list<PendingConnection> pending;
    Deadline next_look = deadline_after(kFailureLook);
    bool is_starved = false;
    Deadline patience;
    while (true) {
        const std::string missing = missing_ranks(
            config.rank + 1, config.world_size,
            [&](int peer) { return streams[static_cast<size_t>(peer)].is_open(); });
        if (missing.empty()) return;
        check_still_there(streams, mine.store, config.rank);
        if (!is_starved) patience = deadline_after(kStarvedTime);
        if (has_passed(mine.deadline) || has_passed(patience))
            throw_missing(mine, missing, is_starved);
        if (has_passed(next_look)) {
            check_reported_failure(mine.store);
            next_look = deadline_after(kFailureLook);
        }

        std::vector<pollfd> entries = entries_of(listeners, pending, streams);
        poll_until(entries, std::min(mine.deadline, next_look));

        is_starved = false;
        if (entries[0].revents != 0)
            is_starved |= !accept_connection(listeners.tcp, /*is_local=*/false, pending);
        if (entries[1].revents != 0)
            is_starved |= !accept_connection(listeners.local, /*is_local=*/true, pending);
        serve_pending(pending, streams, mine, hello);
    }
}

// Returns the addresses of all ranks; blocks until all have published theirs.
std::vector<Endpoint> get_endpoints(const ThisRank& mine) {
    const int world_size = mine.config.world_size;
    std::vector<Endpoint> endpoints;
    try {
        for (int rank = 0; rank < world_size; ++rank)
            endpoints.push_back(parse_endpoint(
                get_unless_failed(mine.store, address_key(rank), mine.deadline)));
        return endpoints;
    } catch (const Timeout&) {
        const std::string missing = missing_ranks(
            0, world_size, [&](int rank) { return mine.store.check(address_key(rank)); });
        throw Timeout(concat("rank ", mine.config.rank, " waited for the address of ",
                             missing, "; did it start?"));
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

// Connects to all other ranks, and adds each connection to `mesh` at once.
void connect_all(Mesh& mesh, const RendezvousConfig& config, Store& store,
                 const std::string& local_host, Medium medium, Deadline deadline) {
    // Listen, and publish an address at which other ranks can reach this rank: the local
    // address of the connection to the store, or the advertised address.
    await_name({local_host, 0}, deadline);
    const bool has_tcp_only = medium == Medium::kTcp;
    const std::string name = has_tcp_only ? "-" : random_local_name();
    const Listeners listeners{listen_for(local_host),
                              has_tcp_only ? Socket() : listen_locally(name)};
    const Address published{local_host, local_address(listeners.tcp).port};
    const ThisRank mine{
        config, store, deadline,
        Endpoint{system().host_id(), published, name, system().random_number()}};
    store.set(address_key(config.rank), to_text(mine.endpoint));

    const std::vector<Endpoint> endpoints = get_endpoints(mine);
    mesh.streams.resize(endpoints.size());
    mesh.hosts = number_hosts(endpoints);
    check_medium(medium, endpoints, config.rank);

    for (int peer = 0; peer < config.rank; ++peer) {
        const auto p = static_cast<size_t>(peer);
        try {
            mesh.streams[p] = connect_to_rank(peer, mine, endpoints[p]);
        } catch (const PeerLost&) {  // the cause may be another rank, lost earlier
            check_still_there(mesh.streams, store, config.rank);
            await_reported_failure(store);
            throw;
        }
    }
    accept_higher_ranks(listeners, mesh.streams, mine);
}

}  // namespace

int rank_of_connector(const Hello& theirs, const Hello& mine, int world_size) {
    const bool is_higher_rank = theirs.rank > mine.rank && theirs.rank < world_size;
    return is_higher_rank && hello_error(theirs, mine).empty() ? theirs.rank : -1;
}

Mesh connect_mesh(const RendezvousConfig& config, Store& store,
                  const std::string& local_host, Medium medium, Deadline deadline) {
    Mesh mesh;
    try {
        connect_all(mesh, config, store, local_host, medium, deadline);
    } catch (const std::exception&) {  // the other ranks wait for this one
        leave_mesh(store, std::move(mesh.streams), config.rank, current_failure());
        throw;
    }
    return mesh;
}

}  // namespace mini::dist
