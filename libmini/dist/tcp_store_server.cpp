#include "libmini/dist/tcp_store_server.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <exception>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "libmini/core/log.hpp"
#include "libmini/dist/store_protocol.hpp"

namespace mini::dist {
namespace {

using protocol::Command;
using protocol::Reply;
using protocol::Request;
using protocol::Status;

constexpr size_t kReadBytes = 64 << 10;

// More than this in answers that a client does not fetch, and it is dropped.
constexpr size_t kMaxOutboxBytes = 4 * kMaxValueBytes;

// How long to leave new connections alone when there is no descriptor for them.
constexpr std::chrono::milliseconds kAcceptPause(50);

// A get or wait whose key is not there yet.
struct Question {
    uint32_t id;
    Command command;
    std::string key;
};

struct Client {
    Socket socket;
    Deadline hello_deadline;
    bool greeted = false;
    bool dropped = false;
    std::string inbox;                // bytes that are no whole message yet
    std::string outbox;               // bytes that the socket has not taken yet
    std::optional<Question> pending;  // one at most: who asks anew has stopped waiting
};

}  // namespace

class TcpStoreServer::Loop {
  public:
    Loop(const Address& address, const Cookie& cookie, StoreLimits limits)
        : cookie_(cookie),
          limits_(limits),
          listener_(listen_on(address)),
          wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
        MINI_CHECK(wake_.is_open(), system_message("eventfd", errno));
        thread_ = std::thread([this] { run(); });
    }

    ~Loop() {
        const uint64_t one = 1;
        if (::write(wake_.fd(), &one, sizeof one) < 0)
            std::terminate();  // it cannot be full
        thread_.join();
    }

    Address address() const { return local_address(listener_); }

    StoreCounters counters() const {
        const std::lock_guard lock(mutex_);
        return counters_;
    }

    bool wait_until_alone(Deadline deadline) {
        std::unique_lock lock(mutex_);
        return changed_.wait_until(lock, deadline,
                                   [&] { return counters_.connected_clients == 0; });
    }

  private:
    void run();
    void wait_for_events();
    void welcome();
    bool make_room_for_stranger();
    void read_from(Client& client);
    void read_messages(Client& client);
    bool take_hello(Client& client);
    bool take_request(Client& client);
    void handle(Client& client, const Request& head, const std::string& key,
                std::string value);
    std::string change(Command command, const std::string& key, std::string value);
    void ask(Client& client, const Question& question);
    void forget_question(Client& client);
    void answer_waiters(const std::string& key);
    void reply(Client& client, uint32_t id, Status status, const std::string& value);
    void write_to(Client& client);
    void remove_dropped();
    void count(uint64_t StoreCounters::*counter);

    const Cookie cookie_;
    const StoreLimits limits_;
    Socket listener_;
    Socket wake_;  // an eventfd: readable when the loop is to end
    std::list<Client> clients_;
    StoreTable table_;
    std::map<std::string, std::vector<Client*>> waiters_;  // by the key they wait for
    Deadline accept_again_ = Clock::now();
    bool stopping_ = false;

    mutable std::mutex mutex_;  // guards the counters, which other threads read
    std::condition_variable changed_;
    StoreCounters counters_;
    std::thread thread_;
};

void TcpStoreServer::Loop::run() {
    while (!stopping_) {
        wait_for_events();
        remove_dropped();
    }
}

void TcpStoreServer::Loop::wait_for_events() {
    // List whom to listen to, and when the next stranger runs out of time.
    const bool is_open = has_passed(accept_again_);
    std::vector<pollfd> entries = {{wake_.fd(), POLLIN, 0},
                                   {is_open ? listener_.fd() : -1, POLLIN, 0}};
    std::vector<Client*> polled;
    int timeout = is_open ? -1 : milliseconds_left(accept_again_);
    for (Client& client : clients_) {
        const int writable = client.outbox.empty() ? 0 : POLLOUT;
        entries.push_back({client.socket.fd(), static_cast<short>(POLLIN | writable), 0});
        polled.push_back(&client);
        if (client.greeted) continue;
        const int left = milliseconds_left(client.hello_deadline);
        timeout = timeout < 0 ? left : std::min(timeout, left);
    }
    if (::poll(entries.data(), entries.size(), timeout) < 0)
        return;  // a signal: go round again

    // Serve whoever has something to say.
    stopping_ = entries[0].revents != 0;
    if (entries[1].revents != 0) welcome();
    for (size_t i = 0; i < polled.size(); ++i) {
        const short events = entries[i + 2].revents;
        if (events & POLLOUT) write_to(*polled[i]);
        if (events & (POLLIN | POLLHUP | POLLERR)) read_from(*polled[i]);
        if (!polled[i]->greeted && has_passed(polled[i]->hello_deadline))
            polled[i]->dropped = true;
    }
}

void TcpStoreServer::Loop::welcome() {
    Socket socket = accept_from(listener_);
    if (!socket.is_open()) {
        // Either the caller has hung up, or there is no descriptor left for it.
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            const bool has_room = make_room_for_stranger();
            if (!has_room) accept_again_ = deadline_after(kAcceptPause);
        }
        return;
    }
    count(&StoreCounters::accepted);
    size_t strangers = 0;
    for (const Client& client : clients_) strangers += !client.greeted && !client.dropped;
    if (strangers >= limits_.strangers) make_room_for_stranger();
    Client& client = clients_.emplace_back();
    client.socket = std::move(socket);
    client.hello_deadline = deadline_after(limits_.hello_time);
}

// Drops the oldest connection that has not said Hello: a client says it at once, so it is
// rarely one. False when there is none.
bool TcpStoreServer::Loop::make_room_for_stranger() {
    for (Client& client : clients_) {
        if (client.greeted || client.dropped) continue;
        client.dropped = true;
        return true;
    }
    return false;
}

void TcpStoreServer::Loop::read_from(Client& client) {
    try {
        char buffer[kReadBytes];
        const size_t n =
            recv_some(client.socket, std::as_writable_bytes(std::span(buffer)));
        client.inbox.append(buffer, n);
        read_messages(client);
    } catch (const ConnectionClosed&) {
        client.dropped = true;
    }
}

void TcpStoreServer::Loop::read_messages(Client& client) {
    while (!client.dropped)
        if (!(client.greeted ? take_request(client) : take_hello(client))) return;
}

bool TcpStoreServer::Loop::take_hello(Client& client) {
    Hello hello;
    const size_t n = std::min(client.inbox.size(), sizeof hello);
    if (n < sizeof hello) return false;
    std::memcpy(&hello, client.inbox.data(), sizeof hello);
    client.inbox.erase(0, sizeof hello);
    const Hello mine = make_hello(Hello::Role::kStoreServer, cookie_, 0, -1);
    client.dropped = !fault_of(hello, mine).empty();
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

bool TcpStoreServer::Loop::take_request(Client& client) {
    Request head;
    if (client.inbox.size() < sizeof head) return false;
    std::memcpy(&head, client.inbox.data(), sizeof head);
    const size_t most =
        head.command == Command::kCompareSet ? protocol::kMaxBodyBytes : kMaxValueBytes;
    if (head.key_bytes > kMaxKeyBytes || head.value_bytes > most) {
        count(&StoreCounters::broken);
        client.dropped = true;
    }
    const size_t size = sizeof head + head.key_bytes + head.value_bytes;
    if (client.dropped || client.inbox.size() < size) return false;
    const std::string key = client.inbox.substr(sizeof head, head.key_bytes);
    std::string value =
        client.inbox.substr(sizeof head + head.key_bytes, head.value_bytes);
    client.inbox.erase(0, size);
    handle(client, head, key, std::move(value));
    return true;
}

void TcpStoreServer::Loop::handle(Client& client, const Request& head,
                                  const std::string& key, std::string value) {
    count(&StoreCounters::requests);
    forget_question(client);
    const auto done = [&](const std::string& answer) {
        reply(client, head.id, Status::kDone, answer);
    };
    switch (head.command) {
        case Command::kGet:
        case Command::kWait: return ask(client, {head.id, head.command, key});
        case Command::kCheck: return done(table_.find(key) != nullptr ? "1" : "0");
        case Command::kErase: return done(table_.erase(key) ? "1" : "0");
        case Command::kNumKeys: return done(std::to_string(table_.size()));
        case Command::kSet:
        case Command::kAdd:
        case Command::kCompareSet:
            try {
                done(change(head.command, key, std::move(value)));
                return answer_waiters(key);
            } catch (const Error& error) {
                return reply(client, head.id, Status::kRefused, error.what());
            }
    }
    count(&StoreCounters::broken);  // a command that does not exist
    client.dropped = true;
}

// Changes the table; the answer. Throws Error for what cannot be done.
std::string TcpStoreServer::Loop::change(Command command, const std::string& key,
                                         std::string value) {
    MINI_CHECK(table_.find(key) != nullptr || table_.size() < limits_.keys,
               "the store is full: it has ", table_.size(), " keys");
    MINI_CHECK(table_.bytes() + key.size() + value.size() <= limits_.bytes,
               "the store is full: it holds ", table_.bytes(), " bytes and takes up to ",
               limits_.bytes);
    if (command == Command::kSet) {
        table_.set(key, std::move(value));
        return "";
    }
    if (command == Command::kAdd) {
        int64_t amount = 0;
        std::from_chars(value.data(), value.data() + value.size(), amount);
        return std::to_string(table_.add(key, amount));
    }
    std::string expected, desired;
    MINI_CHECK(protocol::unpack_pair(value, expected, desired) &&
                   desired.size() <= kMaxValueBytes,
               "compare_set: no two values");
    return table_.compare_set(key, expected, desired);
}

// Answers at once, or when the key comes.
void TcpStoreServer::Loop::ask(Client& client, const Question& question) {
    const std::string* value = table_.find(question.key);
    if (value == nullptr) {
        client.pending = question;
        waiters_[question.key].push_back(&client);
        return;
    }
    reply(client, question.id, Status::kDone,
          question.command == Command::kGet ? *value : "");
}

void TcpStoreServer::Loop::forget_question(Client& client) {
    if (!client.pending) return;
    const auto found = waiters_.find(client.pending->key);
    client.pending.reset();
    std::erase(found->second, &client);
    if (found->second.empty()) waiters_.erase(found);
}

void TcpStoreServer::Loop::answer_waiters(const std::string& key) {
    if (table_.find(key) == nullptr) return;  // a compare_set that set nothing
    const auto waiting = waiters_.extract(key);
    if (waiting.empty()) return;
    for (Client* client : waiting.mapped()) {
        const Question question = *client->pending;
        client->pending.reset();
        ask(*client, question);
    }
}

void TcpStoreServer::Loop::reply(Client& client, uint32_t id, Status status,
                                 const std::string& value) {
    const Reply head{id, status, static_cast<uint32_t>(value.size())};
    client.outbox.append(reinterpret_cast<const char*>(&head), sizeof head);
    client.outbox += value;
    if (client.outbox.size() > kMaxOutboxBytes) client.dropped = true;
    write_to(client);
}

void TcpStoreServer::Loop::write_to(Client& client) {
    try {
        const size_t n =
            send_some(client.socket, std::as_bytes(std::span(client.outbox)));
        client.outbox.erase(0, n);
    } catch (const ConnectionClosed&) {
        client.dropped = true;
    }
}

void TcpStoreServer::Loop::remove_dropped() {
    uint64_t clients = 0, strangers = 0;
    for (Client& client : clients_) {
        if (client.dropped) forget_question(client);
        if (client.dropped) ++(client.greeted ? clients : strangers);
    }
    if (clients + strangers == 0) return;

    // Counted before they hear of it: whoever has seen the end finds it in the counters.
    const std::lock_guard lock(mutex_);
    counters_.connected_clients -= clients;
    counters_.strangers += strangers;
    clients_.remove_if([](const Client& client) { return client.dropped; });
    changed_.notify_all();
}

void TcpStoreServer::Loop::count(uint64_t StoreCounters::*counter) {
    const std::lock_guard lock(mutex_);
    ++(counters_.*counter);
}

TcpStoreServer::TcpStoreServer(const Address& address, const Cookie& cookie,
                               StoreLimits limits)
    : loop_(std::make_unique<Loop>(address, cookie, limits)) {}

TcpStoreServer::~TcpStoreServer() {
    const StoreCounters seen = counters();
    logging::info("store at ", to_text(address()), ": ", seen.requests, " requests of ",
                  seen.clients, " clients; ", seen.strangers, " strangers dropped, ",
                  seen.refused, " clients too many, ", seen.broken, " broken");
}

Address TcpStoreServer::address() const { return loop_->address(); }

StoreCounters TcpStoreServer::counters() const { return loop_->counters(); }

bool TcpStoreServer::wait_until_alone(Deadline deadline) {
    return loop_->wait_until_alone(deadline);
}

}  // namespace mini::dist
