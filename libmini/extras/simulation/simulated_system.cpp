#include "libmini/extras/simulation/simulated_system.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <new>
#include <span>
#include <string>

#include "libmini/core/error.hpp"

namespace mini::dist {
namespace {

constexpr VirtualTime kRetryTime = std::chrono::seconds(1);
constexpr int kFirstProcessId = 1000;

Address numeric(const addrinfo& target) {
    MINI_CHECK(target.ai_family == AF_INET, "a simulated network has IPv4 alone");
    const auto& address = *reinterpret_cast<const sockaddr_in*>(target.ai_addr);
    std::array<char, INET_ADDRSTRLEN> host{};
    ::inet_ntop(AF_INET, &address.sin_addr, host.data(), host.size());
    return {host.data(), ntohs(address.sin_port)};
}

bool is_same(const Address& a, const Address& b) {
    return a.port == b.port && a.host == b.host;
}

}  // namespace

// An attempt to connect.
struct SimulatedSystem::Request {
    int fd = -1;      // of the client
    int process = 0;  // of the client
    Address from, to;
    int listener = 0;       // the listener's process
    OneWay* out = nullptr;  // client to listener; null: no listener
    OneWay* in = nullptr;   // listener to client
};

SimulatedSystem::SimulatedSystem(Scheduler& scheduler, Network& network,
                                 std::vector<int> hosts, uint64_t seed)
    : scheduler_(scheduler), network_(network), hosts_(std::move(hosts)), random_(seed) {}

SimulatedSystem::~SimulatedSystem() = default;

// ---- descriptors

template <typename File>
File* SimulatedSystem::find(int fd) const {
    const auto found = files_.find(fd);
    return found == files_.end() ? nullptr : dynamic_cast<File*>(found->second.get());
}

int SimulatedSystem::add_file(std::unique_ptr<SimulatedFile> file) {
    files_[next_fd_] = std::move(file);
    return next_fd_++;
}

void SimulatedSystem::close(int fd) noexcept {
    auto file = files_.extract(fd);
    if (!file.empty()) file.mapped()->close();
}

int SimulatedSystem::new_event() {
    return add_file(std::make_unique<SimulatedEvent>(scheduler_.process()));
}

void SimulatedSystem::set_event(int fd) noexcept {
    auto* const event = find<SimulatedEvent>(fd);
    if (event == nullptr) return;
    event->is_set = true;
    scheduler_.wake_process(event->owner());
}

void SimulatedSystem::clear_event(int fd) noexcept {
    if (auto* const event = find<SimulatedEvent>(fd)) event->is_set = false;
}

// ---- addresses

std::string SimulatedSystem::address_of(int process) const {
    return concat("10.0.0.", hosts_[static_cast<size_t>(process)] + 1);
}

std::string SimulatedSystem::host_name() {
    return concat("host", hosts_[static_cast<size_t>(scheduler_.process())]);
}

int SimulatedSystem::process_id() { return kFirstProcessId + scheduler_.process(); }

int SimulatedSystem::resolve(const Address& address, addrinfo*& found) {
    const auto name = names_.find(address.host);
    const std::string& host = name == names_.end() ? address.host : name->second;
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICHOST;
    const int code =
        ::getaddrinfo(host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
    return code == EAI_NONAME ? look_up_error_ : code;
}

Address SimulatedSystem::local_address(int fd) {
    const auto* const file = find<SimulatedFile>(fd);
    return file == nullptr ? Address{"?", 0} : file->address();
}

Address SimulatedSystem::peer_address(int fd) {
    const auto* const connection = find<SimulatedConnection>(fd);
    return connection == nullptr ? Address{"?", 0} : connection->peer();
}

bool SimulatedSystem::is_taken(const Address& address) const {
    return std::ranges::any_of(files_, [&](const auto& entry) {
        return is_same(entry.second->address(), address);
    });
}

int SimulatedSystem::free_port(const std::string& host) {
    const auto first = static_cast<int>(random_() % kPortCount);
    for (int i = 0; i < kPortCount; ++i) {
        const int port = kFirstPort + (first + i) % kPortCount;
        if (!is_taken({host, port})) return port;
    }
    throw Error("all ", kPortCount, " ports of ", host, " are taken");
}

SimulatedListener* SimulatedSystem::listener_at(const Address& address) const {
    for (const auto& [fd, file] : files_)
        if (auto* const listener = dynamic_cast<SimulatedListener*>(file.get());
            listener != nullptr && is_same(listener->address(), address))
            return listener;
    return nullptr;
}

// ---- connections

int SimulatedSystem::listen(const addrinfo& target) {
    Address address = numeric(target);
    const int process = scheduler_.process();
    if (address.host != address_of(process) && !is_loopback(address))
        return fail_with(EADDRNOTAVAIL);
    if (network_.is_dead(process)) return fail_with(ENETDOWN);
    if (address.port == 0) address.port = free_port(address.host);
    if (listener_at(address) != nullptr) return fail_with(EADDRINUSE);
    return add_file(std::make_unique<SimulatedListener>(process, address));
}

int SimulatedSystem::connect(const addrinfo& target) {
    const int process = scheduler_.process();
    if (network_.is_dead(process)) return fail_with(ENETDOWN);
    const auto handshake = std::make_shared<Request>();
    handshake->process = process;
    handshake->to = numeric(target);
    handshake->from = {address_of(process), free_port(address_of(process))};
    handshake->fd = add_file(std::make_unique<SimulatedConnection>(
        network_, process, handshake->from, handshake->to));
    scheduler_.at(scheduler_.now(), 0, [this, handshake] { request(handshake); });
    errno = EINPROGRESS;
    return handshake->fd;
}

// Returns the client's socket; null if the socket is closed or its process is dead.
SimulatedConnection* SimulatedSystem::client_of(const Request& request) const {
    return network_.is_dead(request.process) ? nullptr
                                             : find<SimulatedConnection>(request.fd);
}

// Returns the process that a request to `address` reaches: the listener's, else the first
// process of the host, else `otherwise`.
int SimulatedSystem::process_at(const Address& address, int otherwise) const {
    if (const SimulatedListener* const listener = listener_at(address))
        return listener->owner();
    for (size_t process = 0; process < hosts_.size(); ++process)
        if (address_of(static_cast<int>(process)) == address.host)
            return static_cast<int>(process);
    return otherwise;
}

// Sends the request. If the client's own port is the requested port, connects the client
// to itself.
void SimulatedSystem::request(const Handshake& handshake) {
    Request& r = *handshake;
    SimulatedConnection* const client = client_of(r);
    if (client == nullptr) return;
    if (is_same(r.from, r.to) && listener_at(r.to) == nullptr) {  // self-connection
        OneWay& way = network_.open(r.process, r.process);
        client->establish(way, way);
        return scheduler_.wake_process(r.process);
    }
    r.listener = process_at(r.to, r.process);
    travel(r.process, r.listener, [this, handshake](bool has_arrived) {
        has_arrived ? arrive(handshake) : request(handshake);
    });
}

// Calls done(true) after one delay; if a fault holds this direction, calls done(false)
// after kRetryTime.
void SimulatedSystem::travel(int from, int to, std::function<void(bool)> done) {
    const bool is_held = network_.is_held(from, to);
    scheduler_.at(scheduler_.now() + (is_held ? kRetryTime : network_.delay(from, to)), 0,
                  [done = std::move(done), is_held] { done(!is_held); });
}

// Handles an arrived request: adds a connection to the listener's backlog, if a listener
// exists, and answers.
void SimulatedSystem::arrive(const Handshake& handshake) {
    Request& r = *handshake;
    if (SimulatedListener* const listener = listener_at(r.to)) {
        r.listener = listener->owner();
        r.out = &network_.open(r.process, r.listener);
        r.in = &network_.open(r.listener, r.process);
        auto server =
            std::make_unique<SimulatedConnection>(network_, r.listener, r.to, r.from);
        server->establish(*r.in, *r.out);
        listener->backlog.push_back(std::move(server));
        scheduler_.wake_process(r.listener);
    }
    answer(handshake);
}

// Sends the answer from the listener's host.
void SimulatedSystem::answer(const Handshake& handshake) {
    const Request& r = *handshake;
    travel(r.listener, r.process, [this, handshake](bool has_arrived) {
        has_arrived ? finish(*handshake) : answer(handshake);
    });
}

void SimulatedSystem::finish(const Request& request) {
    SimulatedConnection* const client = client_of(request);
    if (client == nullptr) {
        if (request.in != nullptr) network_.cut(*request.out);
        return;
    }
    if (request.out != nullptr)
        client->establish(*request.out, *request.in);
    else
        client->fail(ECONNREFUSED);
    scheduler_.wake_process(request.process);
}

int SimulatedSystem::connect_error(int fd) {
    const auto* const connection = find<SimulatedConnection>(fd);
    if (connection == nullptr) return EBADF;
    return network_.is_dead(connection->owner()) ? ECONNRESET : connection->error();
}

int SimulatedSystem::accept(int fd) {
    auto* const listener = find<SimulatedListener>(fd);
    if (listener == nullptr || listener->backlog.empty()) return fail_with(EAGAIN);
    std::unique_ptr<SimulatedConnection> connection =
        std::move(listener->backlog.front());
    listener->backlog.pop_front();
    return add_file(std::move(connection));
}

ssize_t SimulatedSystem::send(int fd, std::span<const std::byte> head,
                              std::span<const std::byte> body) {
    check_memory();
    auto* const connection = find<SimulatedConnection>(fd);
    return connection == nullptr ? fail_with(EBADF) : connection->send(head, body);
}

ssize_t SimulatedSystem::recv(int fd, std::span<std::byte> bytes) {
    check_memory();
    auto* const connection = find<SimulatedConnection>(fd);
    return connection == nullptr ? fail_with(EBADF) : connection->recv(bytes);
}

void SimulatedSystem::shutdown(int fd, int how) noexcept {
    auto* const connection = find<SimulatedConnection>(fd);
    if (connection == nullptr) return;
    if (how == SHUT_WR)
        connection->end_sending();
    else
        connection->close();
    scheduler_.wake_process(connection->owner());
}

std::pair<Socket, Socket> SimulatedSystem::connect_pair(int a, int b) {
    const Address of_a{address_of(a), 1}, of_b{address_of(b), 1};
    auto first = std::make_unique<SimulatedConnection>(network_, a, of_a, of_b);
    auto second = std::make_unique<SimulatedConnection>(network_, b, of_b, of_a);
    OneWay &out = network_.open(a, b), &in = network_.open(b, a);
    first->establish(out, in);
    second->establish(in, out);
    return {Socket(add_file(std::move(first))), Socket(add_file(std::move(second)))};
}

// ---- faults

void SimulatedSystem::check_memory() {
    if (out_of_memory_.erase(scheduler_.process()) > 0) throw std::bad_alloc();
}

void SimulatedSystem::kill(int process, Loss loss) {
    for (const auto& [fd, file] : files_)
        if (file->owner() == process) file->close();
    std::erase_if(files_, [&](const auto& entry) {
        const bool listens = dynamic_cast<SimulatedListener*>(entry.second.get());
        return listens && entry.second->owner() == process;
    });
    network_.kill(process, loss);
}

void SimulatedSystem::cut(int a, int b) {
    for (const auto& [fd, file] : files_)
        if (auto* const connection = dynamic_cast<SimulatedConnection*>(file.get());
            connection != nullptr && connection->is_between(a, b))
            connection->cut();
}

}  // namespace mini::dist
