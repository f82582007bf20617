#include "libmini/distributed/transport/mesh.hpp"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <list>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/distributed/net/clock.hpp"
#include "libmini/distributed/net/failure.hpp"
#include "libmini/distributed/transport/failure_detector.hpp"
#include "libmini/distributed/transport/ring_channel.hpp"
#include "libmini/distributed/transport/shared_memory.hpp"
#include "libmini/distributed/transport/socket_channel.hpp"

namespace mini::dist {
namespace {

// The maximum number of connections in their handshake.
constexpr size_t kMaxPending = 64;

// The key of the store in which the first rank that fails reports its failure.
const char* const kFailureKey = "mesh/failure";

// How often a rank that waits for others looks for a reported failure; how long it waits
// for the report after a connection was closed, because a failing rank may close
// connections before it reports.
constexpr std::chrono::milliseconds kFailureLook(500), kReportTime(250);

std::string address_key(int rank) { return concat("mesh/", rank); }

// What a rank publishes in the store.
struct Endpoint {
    std::string host;
    Address address;         // at which other hosts reach its listener
    std::string sharing_id;  // see memory_sharing_id(); "-" if it uses TCP only
    uint64_t token = 0;      // random; identifies the rank's listener
    Address local_address;   // of its listener: `address` may be a router's
};

std::string to_text(const Endpoint& endpoint) {
    return concat(endpoint.host, " ", to_text(endpoint.address), " ", endpoint.sharing_id,
                  " ", endpoint.token, " ", to_text(endpoint.local_address));
}

Endpoint parse_endpoint(const std::string& text) {
    std::istringstream in(text);
    Endpoint endpoint;
    std::string address, local_address;
    in >> endpoint.host >> address >> endpoint.sharing_id >> endpoint.token >>
        local_address;
    endpoint.address = parse_address(address);
    if (!local_address.empty()) endpoint.local_address = parse_address(local_address);
    return endpoint;
}

bool share_memory(const Endpoint& a, const Endpoint& b) {
    return a.host == b.host && a.sharing_id == b.sharing_id && a.sharing_id != "-";
}

// What this rank needs to connect to the others.
struct ThisRank {
    const RendezvousConfig& config;
    Store& store;
    Deadline deadline;
    Socket listener;
    std::vector<Endpoint> endpoints;  // of all ranks

    const Endpoint& endpoint(int rank) const {
        return endpoints[static_cast<size_t>(rank)];
    }
    bool shares_memory_with(int peer) const {
        return share_memory(endpoint(config.rank), endpoint(peer));
    }
};

// Returns the stream over a connection to another rank: through `memory`, unless it is
// null.
MessageStream stream_over(Socket socket, std::shared_ptr<Memory> memory,
                          RingChannel::Side side, int world_size) {
    if (!memory) return MessageStream(std::make_unique<SocketChannel>(std::move(socket)));
    return MessageStream(std::make_unique<RingChannel>(
        std::move(socket), std::move(memory), side, world_size));
}

// ---- failures of other ranks

// Throws the failure that another rank reports in the store within `time`.
void check_reported_failure(Store& store, std::chrono::milliseconds time) {
    std::string report;
    try {
        if (time.count() == 0 && !store.check(kFailureKey)) return;
        report = store.get(kFailureKey, deadline_after(time));
    } catch (
        const Error&) {  // no report, or the store is gone: its connection shows this
        return;
    }
    throw_failure(parse_failure(report));
}

// If a connected rank is gone, throws the failure that it has reported, else PeerLost:
// the mesh can never be complete.
void check_still_there(std::vector<MessageStream>& streams, Store& store, int rank) {
    for (size_t peer = 0; peer < streams.size(); ++peer) {
        if (!streams[peer].is_open()) continue;
        pollfd entry{streams[peer].channel().socket().fd(), POLLRDHUP, 0};
        if (poll_until({&entry, 1}, Clock::now()) <= 0) continue;
        const int lost = static_cast<int>(peer);
        const Told told = streams[peer].final_message(deadline_after(kFinalMessageTime));
        if (told.report) throw_failure(reported(*told.report, lost));
        check_reported_failure(store, kReportTime);
        throw PeerLost(lost, concat("rank ", lost, " is gone: its connection to rank ",
                                    rank, " closed during start-up"));
    }
}

// Returns the value of a key, as Store::get does. Throws the failure that another rank
// reports in the meantime.
std::string get_unless_failed(Store& store, const std::string& key, Deadline deadline) {
    // Look ever more rarely, because each look leaves a request at the store.
    for (auto pause = kFailureLook;; pause *= 2) {
        try {
            return store.get(key, std::min(deadline, deadline_after(pause)));
        } catch (const Timeout&) {
            check_reported_failure(store, std::chrono::milliseconds(0));
            if (has_passed(deadline)) throw;
        }
    }
}

// ---- the rank that connects

// The first message of the rank that connects. Its memory for both ranks is
// /proc/PROCESS/fd/DESCRIPTOR; -1: they use TCP.
struct Greeting {
    Hello hello;
    int32_t process = -1, descriptor = -1;
};
static_assert(sizeof(Greeting) == sizeof(Hello) + 8, "no padding on the wire");

// Connects and exchanges Hellos. Returns the stream, and the peer's Hello in `answer`.
MessageStream greet(int peer, const ThisRank& mine, const Hello& hello, Hello& answer) {
    const Endpoint& theirs = mine.endpoint(peer);
    const bool is_local = mine.shares_memory_with(peer);
    Socket socket = connect_to(is_local ? theirs.local_address : theirs.address,
                               mine.deadline, Refusal::kNoMore);
    Greeting greeting{hello};
    const int world_size = mine.config.world_size;
    NewSharedMemory shared;
    if (is_local) {
        shared = make_shared_memory(RingChannel::memory_bytes(world_size));
        greeting.process = system().process_id();
        greeting.descriptor = shared.descriptor.fd();
    }
    send_all(socket, std::as_bytes(std::span(&greeting, 1)), mine.deadline);
    recv_all(socket, std::as_writable_bytes(std::span(&answer, 1)), mine.deadline);
    return stream_over(std::move(socket), std::move(shared.memory),
                       RingChannel::Side::kFirst, world_size);
}

[[noreturn]] void throw_closed(int peer, int rank, const std::string& reason) {
    throw PeerLost(
        peer, concat("rank ", peer, " is gone: it closed the connection to rank ", rank,
                     " during start-up (", reason, "); its own output says why"));
}

MessageStream connect_to_rank(int peer, const ThisRank& mine) {
    const RendezvousConfig& config = mine.config;
    const Endpoint& theirs = mine.endpoint(peer);
    try {
        const Hello hello = make_hello(Hello::Role::kMeshConnector, config.cookie,
                                       config.rank, peer, theirs.token);
        Hello answer;
        MessageStream stream = greet(peer, mine, hello, answer);
        const std::string fault = hello_error(answer, hello);
        if (!fault.empty())
            throw PeerLost(peer,
                           concat("rank ", peer, " is gone: another program listens at ",
                                  to_text(theirs.address), " now: ", fault));
        return stream;
    } catch (const ConnectionClosed& closed) {
        throw_closed(peer, config.rank, closed.what());
    } catch (const Timeout& timeout) {
        throw Timeout(concat("rank ", config.rank, " could not connect to rank ", peer,
                             ": ", timeout.what()));
    }
}

// ---- the rank that accepts

// A connection whose greeting is incomplete.
struct PendingConnection {
    Socket socket;
    Greeting greeting;
    size_t received = 0;
};

// Reads the greeting. Returns the rank of the peer; -1 while the greeting is incomplete.
// Throws ConnectionClosed for an invalid Hello.
int identify(PendingConnection& connection, const Hello& mine, int world_size) {
    const auto rest = std::as_writable_bytes(std::span(&connection.greeting, 1))
                          .subspan(connection.received);
    connection.received += recv_some(connection.socket, rest);
    if (connection.received < sizeof(Greeting)) return -1;
    const int rank = rank_of_connector(connection.greeting.hello, mine, world_size);
    if (rank < 0) throw ConnectionClosed("an invalid Hello");
    return rank;
}

// Returns whether the other side closes the connection soon. The memory of a process that
// has just ended cannot be opened, and its connections close a moment later.
bool closes_soon(const Socket& socket) {
    std::byte more{};
    try {
        recv_all(socket, {&more, 1}, deadline_after(kFinalMessageTime));
    } catch (const ConnectionClosed&) {
        return true;
    } catch (const Timeout&) {
    }
    return false;
}

// Turns the connection of rank `peer` into its stream. Sends the Hello last: then the
// other side believes that it is connected.
MessageStream welcome(PendingConnection& connection, int peer, const ThisRank& mine,
                      const Hello& hello) {
    const int world_size = mine.config.world_size;
    std::shared_ptr<Memory> memory;
    if (mine.shares_memory_with(peer)) {
        try {
            memory = map_shared_memory(connection.greeting.process,
                                       connection.greeting.descriptor,
                                       RingChannel::memory_bytes(world_size));
        } catch (const Error& error) {
            if (closes_soon(connection.socket))
                throw_closed(peer, hello.rank, "its process has ended");
            throw Error("rank ", hello.rank, " cannot use the memory of rank ", peer,
                        ": ", error.what());
        }
    }
    const Hello answer =
        make_hello(hello.role, hello.cookie, hello.rank, peer, hello.token);
    send_all(connection.socket, std::as_bytes(std::span(&answer, 1)), mine.deadline);
    return stream_over(std::move(connection.socket), std::move(memory),
                       RingChannel::Side::kSecond, world_size);
}

// Reads once from each pending connection. Turns the connection of a rank into the rank's
// stream. Drops a connection with an invalid Hello.
void serve_pending(std::list<PendingConnection>& pending,
                   std::vector<MessageStream>& streams, const ThisRank& mine,
                   const Hello& hello) {
    const int world_size = static_cast<int>(streams.size());
    std::erase_if(pending, [&](PendingConnection& connection) {
        try {
            const int peer = identify(connection, hello, world_size);
            if (peer < 0) return false;
            MessageStream& stream = streams[static_cast<size_t>(peer)];
            if (!stream.is_open()) stream = welcome(connection, peer, mine, hello);
            return true;
        } catch (const ConnectionClosed&) {
            return true;
        }
    });
}

// Accepts a connection. A rank sends its greeting immediately, so of too many pending
// connections the oldest is rarely a rank's.
void accept_connection(const Socket& listener, std::list<PendingConnection>& pending) {
    Socket socket = accept_from(listener);
    if (!socket.is_open()) return;
    if (pending.size() >= kMaxPending) pending.pop_front();
    pending.emplace_back().socket = std::move(socket);
}

// Returns the sockets to poll: first the listener.
std::vector<pollfd> entries_of(const Socket& listener,
                               const std::list<PendingConnection>& pending,
                               const std::vector<MessageStream>& streams) {
    std::vector<pollfd> entries = {{listener.fd(), POLLIN, 0}};
    for (const PendingConnection& connection : pending)
        entries.push_back({connection.socket.fd(), POLLIN, 0});
    for (const MessageStream& stream : streams)
        if (stream.is_open())
            entries.push_back({stream.channel().socket().fd(), POLLRDHUP, 0});
    return entries;
}

// Accepts connections until every higher rank is connected.
void accept_higher_ranks(std::vector<MessageStream>& streams, const ThisRank& mine) {
    const RendezvousConfig& config = mine.config;
    const Endpoint& endpoint = mine.endpoint(config.rank);
    const Hello hello = make_hello(Hello::Role::kMeshAcceptor, config.cookie, config.rank,
                                   -1, endpoint.token);
    std::list<PendingConnection> pending;
    Deadline next_look = deadline_after(kFailureLook);
    while (true) {
        const std::string missing = missing_ranks(
            config.rank + 1, config.world_size,
            [&](int peer) { return streams[static_cast<size_t>(peer)].is_open(); });
        if (missing.empty()) return;
        check_still_there(streams, mine.store, config.rank);
        if (has_passed(mine.deadline))
            throw Timeout(concat("rank ", config.rank, " waited for a connection from ",
                                 missing, "; did it start, and can it reach ",
                                 to_text(endpoint.address), "?"));
        if (has_passed(next_look)) {
            check_reported_failure(mine.store, std::chrono::milliseconds(0));
            next_look = deadline_after(kFailureLook);
        }

        std::vector<pollfd> entries = entries_of(mine.listener, pending, streams);
        poll_until(entries, std::min(mine.deadline, next_look));
        if (entries[0].revents != 0) accept_connection(mine.listener, pending);
        serve_pending(pending, streams, mine, hello);
    }
}

// ---- both

// Returns the endpoints of all ranks; blocks until all have published theirs.
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

// Connects to all other ranks, and adds each connection to `mesh` at once.
void connect_all(Mesh& mesh, const RendezvousConfig& config, Store& store,
                 const std::string& local_host, Medium medium, Deadline deadline) {
    // Listen, and publish an address at which other ranks can reach this rank: the local
    // address of the connection to the store, or the advertised address.
    await_name({local_host, 0}, deadline);
    ThisRank mine{config, store, deadline, listen_for(local_host), {}};
    const Address own = local_address(mine.listener);
    const Endpoint endpoint{system().host_id(),
                            {local_host, own.port},
                            medium == Medium::kTcp ? "-" : memory_sharing_id(),
                            system().random_number(),
                            own};
    store.set(address_key(config.rank), to_text(endpoint));

    mine.endpoints = get_endpoints(mine);
    mesh.streams.resize(mine.endpoints.size());
    mesh.hosts = number_hosts(mine.endpoints);

    for (int peer = 0; peer < config.rank; ++peer) {
        try {
            mesh.streams[static_cast<size_t>(peer)] = connect_to_rank(peer, mine);
        } catch (const PeerLost&) {  // the cause may be another rank, lost earlier
            check_still_there(mesh.streams, store, config.rank);
            check_reported_failure(store, kReportTime);
            throw;
        }
    }
    accept_higher_ranks(mesh.streams, mine);
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
        return mesh;
    } catch (const std::exception&) {  // the other ranks wait for this one
        const Failure failure = current_failure();
        try {
            store.compare_set(kFailureKey, "", to_text(reported(failure, config.rank)));
        } catch (const Error&) {  // the store is gone: the other ranks detect this
        }
        FailureDetector(config.rank, mesh.streams, CollectiveHistory()).leave(failure);
        throw;
    }
}

}  // namespace mini::dist
