#include "libmini/dist/tcp_mesh.hpp"

#include <poll.h>

#include <list>

namespace mini::dist {
namespace {

// How long one stranger may hold a place at the door.
constexpr std::chrono::seconds kHelloTime(2);

std::string address_key(int rank) { return concat("mesh/", rank); }

// A connection that has not said who it is.
struct Visitor {
    Socket socket;
    Deadline deadline;
    Hello hello;
    size_t received = 0;
};

// Says Hello to a lower rank and expects its answer.
MessageStream connect_to_rank(int peer, const Meeting& meeting, TcpStore& store,
                              Deadline deadline) {
    const Address address = parse_address(store.get(address_key(peer), deadline));
    try {
        Socket socket = connect_to(address, deadline);
        const Hello mine = make_hello(Hello::Purpose::kMesh, meeting.cookie, meeting.rank,
                                      meeting.world_size);
        Hello theirs;
        send_all(socket, std::as_bytes(std::span(&mine, 1)), deadline);
        recv_all(socket, std::as_writable_bytes(std::span(&theirs, 1)), deadline);
        const std::string fault = fault_of(theirs, Hello::Purpose::kMesh, meeting.cookie);
        MINI_CHECK(fault.empty() && theirs.rank == peer, "who answers at ",
                   to_text(address), " is not rank ", peer, ": ", fault);
        return MessageStream(std::move(socket));
    } catch (const ConnectionClosed& closed) {
        throw PeerLost(
            peer, concat("rank ", peer, " is gone: it closed the connection to rank ",
                         meeting.rank, " during start-up (", closed.what(), ")"));
    } catch (const Timeout& timeout) {
        throw Timeout(concat("rank ", meeting.rank, " could not connect to rank ", peer,
                             ": ", timeout.what()));
    }
}

// The rank that `visitor` is, once it has proved it; -1 while it has not.
int identify(Visitor& visitor, const Meeting& meeting) {
    auto rest =
        std::as_writable_bytes(std::span(&visitor.hello, 1)).subspan(visitor.received);
    visitor.received += recv_some(visitor.socket, rest);
    if (visitor.received < sizeof(Hello)) return -1;
    const Hello& hello = visitor.hello;
    const bool is_higher_rank =
        hello.rank > meeting.rank && hello.rank < meeting.world_size;
    const bool is_ours =
        is_higher_rank && fault_of(hello, Hello::Purpose::kMesh, meeting.cookie).empty();
    if (!is_ours) throw ConnectionClosed("a stranger");
    return hello.rank;
}

// Serves the visitors for one turn of the loop: those who are ranks become streams, those
// who are not, or take too long, are dropped.
void serve_visitors(std::list<Visitor>& visitors, std::vector<MessageStream>& streams,
                    const Meeting& meeting, Deadline deadline) {
    const Hello mine = make_hello(Hello::Purpose::kMesh, meeting.cookie, meeting.rank,
                                  meeting.world_size);
    std::erase_if(visitors, [&](Visitor& visitor) {
        try {
            const int peer = identify(visitor, meeting);
            if (peer < 0) return has_passed(visitor.deadline);
            if (streams[static_cast<size_t>(peer)].socket().is_open()) return true;
            send_all(visitor.socket, std::as_bytes(std::span(&mine, 1)), deadline);
            streams[static_cast<size_t>(peer)] = MessageStream(std::move(visitor.socket));
            return true;
        } catch (const ConnectionClosed&) {
            return true;
        }
    });
}

std::string missing_ranks(const std::vector<MessageStream>& streams, int first) {
    std::string missing;
    for (size_t peer = static_cast<size_t>(first); peer < streams.size(); ++peer)
        if (!streams[peer].socket().is_open())
            missing += concat(missing.empty() ? "rank " : ", rank ", peer);
    return missing;
}

// Accepts connections until every higher rank has one.
void accept_higher_ranks(const Socket& listener, std::vector<MessageStream>& streams,
                         const Meeting& meeting, Deadline deadline) {
    std::list<Visitor> visitors;
    while (true) {
        const std::string missing = missing_ranks(streams, meeting.rank + 1);
        if (missing.empty()) return;
        if (has_passed(deadline))
            throw Timeout(concat("rank ", meeting.rank, " waited for a connection from ",
                                 missing, "; did it start, and can it reach ",
                                 to_text(local_address(listener)), "?"));

        std::vector<pollfd> entries = {{listener.fd(), POLLIN, 0}};
        for (const Visitor& visitor : visitors)
            entries.push_back({visitor.socket.fd(), POLLIN, 0});
        const Deadline next_check = std::min(deadline, deadline_after(kHelloTime / 4));
        ::poll(entries.data(), entries.size(), milliseconds_left(next_check));

        if (Socket socket = accept_from(listener); socket.is_open())
            visitors.push_back({std::move(socket), deadline_after(kHelloTime), {}, 0});
        serve_visitors(visitors, streams, meeting, deadline);
    }
}

}  // namespace

std::vector<MessageStream> connect_mesh(const Meeting& meeting, TcpStore& store,
                                        Deadline deadline) {
    // Listen where the others can reach us: on the address that leads to the store.
    const Socket listener = listen_on({store.local_host(), 0});
    store.set(address_key(meeting.rank), to_text(local_address(listener)));

    std::vector<MessageStream> streams(static_cast<size_t>(meeting.world_size));
    for (int peer = 0; peer < meeting.rank; ++peer)
        streams[static_cast<size_t>(peer)] =
            connect_to_rank(peer, meeting, store, deadline);
    accept_higher_ranks(listener, streams, meeting, deadline);
    return streams;
}

}  // namespace mini::dist
