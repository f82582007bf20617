#include "libmini/distributed/store/tcp_store_server.hpp"

#include <poll.h>

#include <algorithm>
#include <exception>
#include <span>
#include <vector>

#include "libmini/core/log.hpp"
#include "libmini/distributed/net/clock.hpp"

namespace mini::dist {

struct TcpStoreServer::Client : StoreClient {
    Socket socket;
    Deadline hello_deadline;
    bool greeted = false;
    bool dropped = false;
    std::string inbox = "";   // the start of an incomplete request
    std::string outbox = "";  // bytes not sent yet

    bool is_unknown() const { return !greeted && !dropped; }
    void write() { outbox.erase(0, send_some(socket, std::as_bytes(std::span(outbox)))); }
};

TcpStoreServer::TcpStoreServer(const Address& address, const Cookie& cookie,
                               std::chrono::milliseconds hello_time)
    : cookie_(cookie), hello_time_(hello_time), listener_(listen_on(address)) {
    if (cookie == Cookie{} && !is_loopback(this->address()))
        logging::warning("the store at ", to_text(this->address()),
                         " can be reached from other machines and has no cookie: set "
                         "MINI_STORE_COOKIE to the same 32 hexadecimal digits on all "
                         "ranks, as minirun does");
    join_thread_ = system().start_thread([this] { run(); });
}

TcpStoreServer::~TcpStoreServer() {
    stop_.set();
    join_thread_();
}

void TcpStoreServer::run() {
    for (bool stopping = false; !stopping;) {
        // List the sockets to poll, and find when the next Hello is overdue.
        std::vector<pollfd> entries = {{stop_.fd(), POLLIN, 0},
                                       {listener_.fd(), POLLIN, 0}};
        Deadline next_turn = kNever;
        for (const Client& client : clients_) {
            const int events = POLLIN | (client.outbox.empty() ? 0 : POLLOUT);
            entries.push_back({client.socket.fd(), static_cast<short>(events), 0});
            if (!client.greeted) next_turn = std::min(next_turn, client.hello_deadline);
        }
        if (poll_until(entries, next_turn) < 0) continue;  // a signal: poll again

        // Serve the sockets that are ready.
        size_t i = 2;
        for (Client& client : clients_) serve(client, entries[i++].revents);
        if (entries[1].revents != 0) accept_client();
        remove_dropped();
        stopping = entries[0].revents != 0;
    }
}

void TcpStoreServer::accept_client() {
    constexpr int kMostUnknown = 64;
    Socket socket = accept_from(listener_, [this] { return drop_oldest(); });
    if (!socket.is_open()) return;
    if (std::ranges::count_if(clients_, &Client::is_unknown) >= kMostUnknown)
        drop_oldest();
    clients_.push_back({{}, std::move(socket), deadline_after(hello_time_)});
}

// A client sends its Hello immediately, so the oldest connection without a Hello is rarely
// a client's. Returns false if there is none.
bool TcpStoreServer::drop_oldest() {
    const auto oldest = std::ranges::find_if(clients_, &Client::is_unknown);
    return oldest != clients_.end() && (oldest->dropped = true);
}

// Reads and writes. An error closes only this client's connection.
void TcpStoreServer::serve(Client& client, short events) {
    try {
        if (events & POLLOUT) client.write();
        if (events & (POLLIN | POLLHUP | POLLERR)) read_from(client);
    } catch (const std::exception&) {  // an invalid request, or the connection's end
        client.dropped = true;
    }
    if (!client.greeted && has_passed(client.hello_deadline)) client.dropped = true;
}

void TcpStoreServer::read_from(Client& client) {
    char buffer[protocol::kReadBytes];
    const size_t n = recv_some(client.socket, std::as_writable_bytes(std::span(buffer)));
    client.inbox.append(buffer, n);
    if (!client.greeted && !greet(client)) return;
    while (auto request = protocol::take_request(client.inbox)) {
        MINI_CHECK(client.outbox.size() <= 2 * kMaxValueBytes, "it reads no replies");
        ++counters_.requests;
        service_.handle(client, std::move(*request));
    }
}

// Checks the client's Hello and sends the server's Hello. Returns false while the
// client's Hello is incomplete.
bool TcpStoreServer::greet(Client& client) {
    const auto theirs = take_hello(client.inbox);
    if (!theirs) return false;
    const Hello mine = make_hello(Hello::Role::kStoreServer, cookie_, 0, -1);
    MINI_CHECK(hello_error(*theirs, mine).empty(), "a connection of another run");
    ++counters_.clients;
    ++counters_.connected_clients;
    client.greeted = true;
    client.outbox.append(reinterpret_cast<const char*>(&mine), sizeof mine);
    client.write();
    return true;
}

void TcpStoreServer::reply(StoreClient& to, uint32_t id, protocol::Status status,
                           const std::string& value) {
    auto& client = static_cast<Client&>(to);
    try {
        client.outbox += protocol::to_bytes(protocol::Reply{id, status, value});
        client.write();
    } catch (const std::exception&) {
        client.dropped = true;
    }
}

// Updates the counters before the sockets close: a client may read them at once.
void TcpStoreServer::remove_dropped() {
    for (Client& client : clients_) {
        if (!client.dropped) continue;
        service_.forget(client);
        client.greeted ? --counters_.connected_clients : ++counters_.dropped;
    }
    clients_.remove_if([](const Client& client) { return client.dropped; });
}

bool TcpStoreServer::wait_until_alone(Deadline deadline) {
    while (counters_.connected_clients > 0) {
        if (has_passed(deadline)) return false;
        sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

}  // namespace mini::dist
