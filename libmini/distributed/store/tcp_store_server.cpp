#include "libmini/distributed/store/tcp_store_server.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/log.hpp"
#include "libmini/distributed/net/clock.hpp"
#include "libmini/distributed/net/event.hpp"
#include "libmini/distributed/net/poll_until.hpp"
#include "libmini/distributed/net/wait_on.hpp"
#include "libmini/distributed/store/store_protocol.hpp"
#include "libmini/distributed/store/store_service.hpp"

namespace mini::dist {
namespace {

// How long the server pauses if it has no memory for the list of sockets to poll.
constexpr std::chrono::milliseconds kNoMemoryPause(10);

struct Client : StoreClient {
    Socket socket;
    Deadline hello_deadline;
    bool greeted = false;
    bool dropped = false;
    std::string inbox;         // the start of an incomplete message
    std::string outbox;        // bytes not sent yet
    size_t counted_bytes = 0;  // this client's share of buffer_bytes_
};

// Returns the heap memory of a string: 0 for a short one, which is stored in the object.
size_t heap_bytes(const std::string& text) {
    return text.capacity() > std::string().capacity() ? text.capacity() : 0;
}

// Returns the heap memory of a client's data. Counts a question's key twice: in the
// client and in the service's map of waiters.
size_t bytes_of(const Client& client) {
    const size_t question = client.question ? 2 * heap_bytes(client.question->key) : 0;
    return heap_bytes(client.inbox) + heap_bytes(client.outbox) + question;
}

// Frees the memory of bytes that have been removed.
void trim(std::string& buffer) {
    constexpr size_t kKept = 1 << 10;
    if (buffer.capacity() > 2 * buffer.size() + kKept) buffer.shrink_to_fit();
}

}  // namespace

class TcpStoreServer::Loop {
  public:
    Loop(const Address& address, const Cookie& cookie, StoreLimits limits)
        : cookie_(cookie),
          limits_(limits),
          acceptor_(listen_on(address)),
          service_(limits, [this](StoreClient& client, uint32_t id,
                                  protocol::Status status, const std::string& value) {
              reply(static_cast<Client&>(client), id, status, value);
          }) {
        thread_ = time_source().start_thread([this] { run(); });
    }

    ~Loop() {
        stop_.set();
        thread_->join();
    }

    Address address() const { return local_address(acceptor_.listener()); }

    StoreCounters counters() const {
        const std::lock_guard lock(mutex_);
        return counters_;
    }

    bool wait_until_alone(Deadline deadline) {
        std::unique_lock lock(mutex_);
        return wait_on(changed_, lock, deadline,
                       [&] { return counters_.connected_clients == 0; });
    }

  private:
    void run();
    void wait_for_events();
    void accept_client();
    bool drop_oldest_stranger();
    template <typename Step>
    void serve(Client& client, const Step& step);
    void settle(Client& client);
    void drop_largest();
    void read_from(Client& client);
    bool greet(Client& client);
    void reply(Client& client, uint32_t id, protocol::Status status,
               const std::string& value);
    void write_to(Client& client);
    void remove_dropped();
    void count(uint64_t StoreCounters::*counter);

    const Cookie cookie_;
    const StoreLimits limits_;
    Acceptor acceptor_;
    Event stop_;
    std::list<Client> clients_;
    StoreService service_;
    size_t buffer_bytes_ = 0;  // of all clients' incomplete requests and unsent replies
    bool stopping_ = false;

    mutable std::mutex mutex_;  // guards the counters, which other threads read
    std::condition_variable changed_;
    StoreCounters counters_;
    std::unique_ptr<Thread> thread_;
};

void TcpStoreServer::Loop::run() {
    while (!stopping_) {
        try {
            wait_for_events();
        } catch (const std::bad_alloc&) {
            drop_largest();
            sleep_for(kNoMemoryPause);
        }
        remove_dropped();
    }
}

void TcpStoreServer::Loop::wait_for_events() {
    // List the sockets to poll, and find when the next Hello is overdue.
    std::vector<pollfd> entries = {{stop_.fd(), POLLIN, 0},
                                   {acceptor_.poll_fd(), POLLIN, 0}};
    std::vector<Client*> polled;
    Deadline next_turn = acceptor_.next_turn(kNever);
    for (Client& client : clients_) {
        const int writable = client.outbox.empty() ? 0 : POLLOUT;
        entries.push_back({client.socket.fd(), static_cast<short>(POLLIN | writable), 0});
        polled.push_back(&client);
        if (!client.greeted) next_turn = std::min(next_turn, client.hello_deadline);
    }
    if (poll_until(entries, next_turn) < 0) {
        if (errno == EINTR) return;  // a signal: poll again
        throw std::bad_alloc();      // no memory, or more sockets than poll() takes
    }

    // Serve the sockets that are ready.
    stopping_ = entries[0].revents != 0;
    if (entries[1].revents != 0) accept_client();
    for (size_t i = 0; i < polled.size(); ++i) {
        Client& client = *polled[i];
        const short events = entries[i + 2].revents;
        if (client.dropped) continue;
        if (events & POLLOUT) serve(client, [&] { write_to(client); });
        if (events & (POLLIN | POLLHUP | POLLERR))
            serve(client, [&] { read_from(client); });
        if (!client.greeted && has_passed(client.hello_deadline)) client.dropped = true;
    }
}

void TcpStoreServer::Loop::accept_client() {
    Socket socket = acceptor_.accept([this] { return drop_oldest_stranger(); });
    if (!socket.is_open()) return;
    size_t strangers = 0;
    for (const Client& client : clients_) strangers += !client.greeted && !client.dropped;
    if (strangers >= limits_.strangers) drop_oldest_stranger();
    Client& client = clients_.emplace_back();
    client.socket = std::move(socket);
    client.hello_deadline = deadline_after(limits_.hello_time);
    count(&StoreCounters::accepted);
}

// Drops the oldest connection without a Hello: a client sends its Hello immediately, so
// this connection is rarely a client's. Returns false if all connections have sent a
// Hello.
bool TcpStoreServer::Loop::drop_oldest_stranger() {
    for (Client& client : clients_) {
        if (client.greeted || client.dropped) continue;
        client.dropped = true;
        return true;
    }
    return false;
}

// Runs one step for a client. An error closes only this client's connection.
template <typename Step>
void TcpStoreServer::Loop::serve(Client& client, const Step& step) {
    try {
        step();
    } catch (const ConnectionClosed&) {
        client.dropped = true;
    } catch (const std::bad_alloc&) {
        client.dropped = true;
        count(&StoreCounters::over_memory);
    } catch (const Error&) {  // an invalid request
        client.dropped = true;
        count(&StoreCounters::broken);
    }
    settle(client);
}

// Updates buffer_bytes_. Drops the client with the most bytes if the sum is over budget.
void TcpStoreServer::Loop::settle(Client& client) {
    trim(client.inbox);
    trim(client.outbox);
    buffer_bytes_ -= std::exchange(client.counted_bytes, bytes_of(client));
    buffer_bytes_ += client.counted_bytes;
    if (buffer_bytes_ > limits_.buffer_bytes()) drop_largest();
}

// Drops the client with the most buffered bytes and frees its memory.
void TcpStoreServer::Loop::drop_largest() {
    const auto largest = std::ranges::max_element(clients_, {}, &Client::counted_bytes);
    if (largest == clients_.end() || largest->counted_bytes == 0) return;
    Client& client = *largest;
    client.dropped = true;
    std::string().swap(client.inbox);
    std::string().swap(client.outbox);
    service_.forget(client);
    buffer_bytes_ -= std::exchange(client.counted_bytes, 0);
    count(&StoreCounters::over_memory);
}

void TcpStoreServer::Loop::read_from(Client& client) {
    char buffer[protocol::kReadBytes];
    const size_t n = recv_some(client.socket, std::as_writable_bytes(std::span(buffer)));
    client.inbox.append(buffer, n);
    if (!client.greeted && !greet(client)) return;
    while (!client.dropped) {
        auto request = protocol::take_request(client.inbox);
        if (!request) return;
        count(&StoreCounters::requests);
        service_.handle(client, std::move(*request));
        settle(client);
    }
}

// Checks the client's Hello and sends the server's Hello, or drops the client. Returns
// whether the client is accepted; false while its Hello is incomplete.
bool TcpStoreServer::Loop::greet(Client& client) {
    const auto hello = take_hello(client.inbox);
    if (!hello) return false;
    const Hello mine = make_hello(Hello::Role::kStoreServer, cookie_, 0, -1);
    client.dropped = !hello_error(*hello, mine).empty();
    if (client.dropped) return false;
    if (counters().connected_clients >= limits_.connections) {
        count(&StoreCounters::refused);
        client.dropped = true;
        return false;
    }
    client.greeted = true;
    count(&StoreCounters::clients);
    count(&StoreCounters::connected_clients);
    client.outbox.append(reinterpret_cast<const char*>(&mine), sizeof mine);
    write_to(client);
    return true;
}

void TcpStoreServer::Loop::reply(Client& client, uint32_t id, protocol::Status status,
                                 const std::string& value) {
    serve(client, [&] {
        client.outbox += protocol::to_bytes(protocol::Reply{id, status, value});
        write_to(client);
    });
}

void TcpStoreServer::Loop::write_to(Client& client) {
    const size_t n = send_some(client.socket, std::as_bytes(std::span(client.outbox)));
    client.outbox.erase(0, n);
}

void TcpStoreServer::Loop::remove_dropped() {
    uint64_t clients = 0, strangers = 0;
    for (Client& client : clients_) {
        if (!client.dropped) continue;
        service_.forget(client);
        buffer_bytes_ -= std::exchange(client.counted_bytes, 0);
        ++(client.greeted ? clients : strangers);
    }
    if (clients + strangers == 0) return;

    // Update the counters before the sockets close, so that a client that sees its
    // connection close also sees the new counters.
    const std::lock_guard lock(mutex_);
    counters_.connected_clients -= clients;
    counters_.strangers += strangers;
    clients_.remove_if([](const Client& client) { return client.dropped; });
    notify_all(changed_);
}

void TcpStoreServer::Loop::count(uint64_t StoreCounters::*counter) {
    const std::lock_guard lock(mutex_);
    ++(counters_.*counter);
}

TcpStoreServer::TcpStoreServer(const Address& address, const Cookie& cookie,
                               StoreLimits limits)
    : loop_(std::make_unique<Loop>(address, cookie, limits)) {
    const Address here = this->address();
    if (cookie == Cookie{} && !is_loopback(here))
        logging::warning("the store at ", to_text(here),
                         " can be reached from other machines and has no cookie: set "
                         "MINI_STORE_COOKIE to the same 32 hexadecimal digits on all "
                         "ranks, as minirun does");
}

TcpStoreServer::~TcpStoreServer() {
    const StoreCounters seen = counters();
    logging::info("store at ", to_text(address()), ": ", seen.requests, " requests of ",
                  seen.clients, " clients; dropped ", seen.strangers, " without Hello, ",
                  seen.refused, " over the limit, ", seen.broken,
                  " with invalid requests, ", seen.over_memory, " for want of memory");
}

Address TcpStoreServer::address() const { return loop_->address(); }

StoreCounters TcpStoreServer::counters() const { return loop_->counters(); }

bool TcpStoreServer::wait_until_alone(Deadline deadline) {
    return loop_->wait_until_alone(deadline);
}

}  // namespace mini::dist
