#include "libmini/dist/tcp_store_server.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <list>
#include <map>
#include <thread>
#include <vector>

#include "libmini/dist/store_protocol.hpp"

namespace mini::dist {
namespace {

using protocol::Command;
using protocol::Reply;
using protocol::Request;
using protocol::Status;

constexpr size_t kReadBytes = 64 << 10;

// More than this in answers that a client does not fetch, and it is dropped.
constexpr size_t kMaxOutboxBytes = 4 * protocol::kMaxValueBytes;

struct Client {
    Socket socket;
    Deadline hello_deadline;
    bool greeted = false;
    bool dropped = false;
    std::string inbox;   // bytes that are no whole message yet
    std::string outbox;  // bytes that the socket has not taken yet
};

// A get or wait whose key is not there yet.
struct Waiter {
    Client* client;
    uint32_t id;
    Command command;
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

  private:
    void run();
    void wait_for_events();
    void welcome();
    void read_from(Client& client);
    void read_messages(Client& client);
    bool take_hello(Client& client);
    bool take_request(Client& client);
    void handle(Client& client, const Request& head, const std::string& key,
                std::string value);
    void put(const std::string& key, std::string value);
    void reply(Client& client, uint32_t id, Status status, const std::string& value);
    void write_to(Client& client);
    void remove_dropped();

    const Cookie cookie_;
    const StoreLimits limits_;
    Socket listener_;
    Socket wake_;  // an eventfd: readable when the loop is to end
    std::list<Client> clients_;
    std::map<std::string, std::string> values_;
    std::map<std::string, std::vector<Waiter>> waiters_;
    bool stopping_ = false;
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
    std::vector<pollfd> entries = {{wake_.fd(), POLLIN, 0}, {listener_.fd(), POLLIN, 0}};
    std::vector<Client*> polled;
    int timeout = -1;
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
    if (!socket.is_open() || clients_.size() >= limits_.connections) return;
    clients_.push_back(
        {std::move(socket), deadline_after(limits_.hello_time), false, false, "", ""});
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
    client.dropped = !fault_of(hello, Hello::Purpose::kStore, cookie_).empty();
    if (client.dropped) return false;
    client.greeted = true;
    const Hello mine = make_hello(Hello::Purpose::kStore, cookie_, 0, -1);
    client.outbox.append(reinterpret_cast<const char*>(&mine), sizeof mine);
    write_to(client);
    return true;
}

bool TcpStoreServer::Loop::take_request(Client& client) {
    Request head;
    if (client.inbox.size() < sizeof head) return false;
    std::memcpy(&head, client.inbox.data(), sizeof head);
    client.dropped = head.key_bytes > protocol::kMaxKeyBytes ||
                     head.value_bytes > protocol::kMaxValueBytes;
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
    const auto found = values_.find(key);
    const bool exists = found != values_.end();
    switch (head.command) {
        case Command::kSet:
            put(key, std::move(value));
            return reply(client, head.id, Status::kDone, "");
        case Command::kCheck:
            return reply(client, head.id, Status::kDone, exists ? "1" : "0");
        case Command::kGet:
        case Command::kWait:
            if (!exists) return waiters_[key].push_back({&client, head.id, head.command});
            return reply(client, head.id, Status::kDone,
                         head.command == Command::kGet ? found->second : "");
        case Command::kAdd: {
            int64_t sum = 0, amount = 0;
            const std::string old = exists ? found->second : "0";
            const auto a = std::from_chars(old.data(), old.data() + old.size(), sum);
            const auto b =
                std::from_chars(value.data(), value.data() + value.size(), amount);
            const bool numbers = a.ec == std::errc() &&
                                 a.ptr == old.data() + old.size() && b.ec == std::errc();
            if (!numbers || __builtin_add_overflow(sum, amount, &sum))
                return reply(
                    client, head.id, Status::kRefused,
                    concat("add: the value of \"", key, "\" is no number, or too large"));
            put(key, std::to_string(sum));
            return reply(client, head.id, Status::kDone, std::to_string(sum));
        }
    }
    client.dropped = true;  // a command that does not exist
}

void TcpStoreServer::Loop::put(const std::string& key, std::string value) {
    std::string& stored = values_[key] = std::move(value);
    const auto waiting = waiters_.extract(key);
    if (waiting.empty()) return;
    for (const Waiter& waiter : waiting.mapped())
        reply(*waiter.client, waiter.id, Status::kDone,
              waiter.command == Command::kGet ? stored : "");
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
    for (auto& [key, list] : waiters_)
        std::erase_if(list, [](const Waiter& waiter) { return waiter.client->dropped; });
    clients_.remove_if([](const Client& client) { return client.dropped; });
}

TcpStoreServer::TcpStoreServer(const Address& address, const Cookie& cookie,
                               StoreLimits limits)
    : loop_(std::make_unique<Loop>(address, cookie, limits)) {}

TcpStoreServer::~TcpStoreServer() = default;

Address TcpStoreServer::address() const { return loop_->address(); }

}  // namespace mini::dist
