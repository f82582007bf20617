#include "libmini/distributed/net/socket.hpp"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <memory>
#include <system_error>
#include <vector>

#include "libmini/core/log.hpp"
#include "libmini/core/text.hpp"
#include "libmini/distributed/net/clock.hpp"

namespace mini::dist {
namespace {

constexpr std::chrono::milliseconds kRetryPause(5);
constexpr std::chrono::milliseconds kAcceptPause(50);
constexpr std::chrono::seconds kLookUpPause(1);

// A wait for another process that lasts longer is logged.
constexpr std::chrono::seconds kSilentTime(3);

using AddressList = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

// Logs one warning if a wait lasts longer than kSilentTime.
class WaitWarning {
  public:
    void check(const std::string& reason, Deadline deadline) {
        if (is_logged_ || !has_passed(silent_until_)) return;
        is_logged_ = true;
        logging::warning(reason, "; trying again for up to ",
                         milliseconds_left(deadline) / 1000, " s");
    }

  private:
    const Deadline silent_until_ = deadline_after(kSilentTime);
    bool is_logged_ = false;
};

// Returns whether the text can become a host name's: "node0:29500" and "http://node0"
// cannot.
bool may_be_name(const std::string& host) {
    return !host.empty() && host.find_first_of(":/ ") == std::string::npos;
}

// Returns whether getaddrinfo's error is one of this process, not of the name.
bool is_own_fault(int code) {
    return code == EAI_BADFLAGS || code == EAI_FAMILY || code == EAI_SOCKTYPE ||
           code == EAI_SERVICE || code == EAI_MEMORY;
}

// Returns all numeric addresses of a host name; blocks until there is one. Throws Timeout
// if the deadline passes, after at least one attempt.
AddressList resolve(const Address& address, Deadline deadline) {
    WaitWarning warning;
    while (true) {
        addrinfo* found = nullptr;
        const int code = system().resolve(address, found);
        if (code == 0) return {found, &::freeaddrinfo};
        const std::string reason =
            concat("cannot resolve the host name \"", address.host, "\": ",
                   code == EAI_SYSTEM ? system_message("getaddrinfo", errno)
                                      : std::string(::gai_strerror(code)),
                   "; check MASTER_ADDR (minirun's --master-addr)");
        if (is_own_fault(code) || !may_be_name(address.host)) throw Error(reason);
        if (has_passed(deadline)) throw Timeout(reason);
        warning.check(reason, deadline);
        sleep_for(std::min<Clock::duration>(kLookUpPause, deadline - Clock::now()));
    }
}

AddressList resolve_now(const Address& address) { return resolve(address, Clock::now()); }

// Makes one attempt to connect. Returns a closed Socket, with errno set, if the attempt
// fails.
Socket try_connect(const addrinfo& target, Deadline deadline) {
    Socket socket(system().connect(target));
    if (!socket.is_open() || errno == 0) return socket;
    if (!wait_for(socket, POLLOUT, deadline)) {
        errno = ETIMEDOUT;
        return Socket();
    }
    errno = system().connect_error(socket.fd());
    return errno == 0 ? std::move(socket) : Socket();
}

// Makes one attempt to connect to each address. Returns a closed Socket, with errno of
// the last attempt, if all attempts fail.
Socket try_each(const AddressList& targets, Deadline deadline) {
    int error = 0;
    for (const addrinfo* target = targets.get(); target; target = target->ai_next) {
        Socket socket = try_connect(*target, deadline);
        error = errno;
        if (!socket.is_open()) continue;
        if (!is_connected_to_itself(socket)) return socket;
        error = ECONNREFUSED;  // as if no socket listened at the address
    }
    errno = error;
    return Socket();
}

// Replaces the addresses of a name, which change when its host restarts; keeps them if
// the name has no address now.
void look_up_again(const Address& address, AddressList& targets) {
    addrinfo* found = nullptr;
    if (system().resolve(address, found) == 0) targets.reset(found);
}

// Returns the numeric addresses of a name, " (10.0.0.1, 10.0.0.2)"; "" if the host is a
// numeric address itself.
std::string numbers_text(const Address& address, const AddressList& targets) {
    std::vector<std::string> numbers;
    for (const addrinfo* target = targets.get(); target; target = target->ai_next) {
        std::array<char, NI_MAXHOST> host{};
        const int code = ::getnameinfo(target->ai_addr, target->ai_addrlen, host.data(),
                                       host.size(), nullptr, 0, NI_NUMERICHOST);
        if (code == 0) numbers.emplace_back(host.data());
    }
    const bool is_numeric = numbers.size() == 1 && numbers.front() == address.host;
    return numbers.empty() || is_numeric ? "" : concat(" (", join(numbers), ")");
}

// Returns the name of the peer for error messages.
std::string other_end(const Socket& socket) {
    const Address address = peer_address(socket);
    return address.port == 0 ? "a process on this host" : to_text(address);
}

// Returns whether accept() failed because the process lacks a descriptor or memory.
bool has_no_room(int error) {
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

bool is_nothing_yet(int error) {
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

}  // namespace

std::string to_text(const Address& address) {
    const bool is_ipv6 = address.host.find(':') != std::string::npos;
    return is_ipv6 ? concat('[', address.host, "]:", address.port)
                   : concat(address.host, ':', address.port);
}

Address parse_address(const std::string& text) {
    // The port follows the last colon; the host of [::1]:29500 contains colons too.
    const size_t colon = text.rfind(':');
    const bool has_port = colon != std::string::npos && colon + 1 < text.size() &&
                          text.find(']', colon) == std::string::npos;
    if (!has_port)
        throw UsageError("\"", text, "\": port number missing; write host:port");
    std::string host = text.substr(0, colon);
    if (host.size() > 1 && host.front() == '[' && host.back() == ']')
        host = host.substr(1, host.size() - 2);
    if (host.empty())
        throw UsageError("\"", text, "\": host name missing; write host:port");

    int port = -1;
    const char *first = text.data() + colon + 1, *last = text.data() + text.size();
    const auto [end, code] = std::from_chars(first, last, port);
    if (code != std::errc() || end != last || port < 0 || port > 65535)
        throw UsageError("\"", text, "\": the port must be a number in 0 .. 65535");
    return {host, port};
}

namespace {

[[noreturn]] void throw_cannot_listen(const Address& address, int error) {
    const char* advice = "choose another address";
    if (error == EADDRINUSE)
        advice =
            "another program or run holds this port; stop it, or choose another port "
            "(MASTER_PORT, or minirun's --master-port)";
    if (error == EADDRNOTAVAIL)
        advice =
            "this machine has no such address; MASTER_ADDR (minirun's --master-addr) "
            "must be rank 0's own. Behind NAT, set MASTER_ADDR to 0.0.0.0 and "
            "MINI_ADVERTISE_ADDR to the outside address on rank 0's machine";
    if (error == EACCES) advice = "ports below 1024 need privileges; choose a higher one";
    throw Error("cannot listen on ", to_text(address), ": ",
                system_message("bind", error), "; ", advice);
}

// Listens on the first address that this machine has. Returns a closed Socket, with errno
// set, if there is none.
Socket listen_on_one(const AddressList& targets) {
    int error = 0;
    for (const addrinfo* target = targets.get(); target; target = target->ai_next) {
        Socket socket(system().listen(*target));
        if (socket.is_open()) return socket;
        error = errno;
    }
    errno = error;
    return Socket();
}

}  // namespace

void await_name(const Address& address, Deadline deadline) { resolve(address, deadline); }

Socket listen_on(const Address& address) {
    Socket socket = listen_on_one(resolve_now(address));
    if (!socket.is_open()) throw_cannot_listen(address, errno);
    return socket;
}

Socket listen_for(const std::string& host) {
    const AddressList targets = resolve_now({host, 0});
    Socket socket = listen_on_one(targets);
    if (socket.is_open()) return socket;
    if (errno != EADDRNOTAVAIL) throw_cannot_listen({host, 0}, errno);
    return listen_on({targets->ai_family == AF_INET6 ? "::" : "0.0.0.0", 0});
}

Socket reserve_port(const Address& address) {
    const AddressList targets = resolve_now(address);
    Socket socket(
        ::socket(targets->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    MINI_CHECK(socket.is_open(), system_message("socket", errno));
    const auto share_port = [&] {
        const int on = 1;
        ::setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    };

    // Set the option before bind for a given port, because connections of the last job
    // may be in TIME_WAIT. If the kernel chooses the port, set the option only after
    // bind, so that the kernel does not choose the port of another socket.
    if (address.port != 0) share_port();
    if (::bind(socket.fd(), targets->ai_addr, targets->ai_addrlen) != 0)
        throw_cannot_listen(address, errno);

    // From now on another socket with this option can bind the port, as long as no socket
    // listens on the port.
    share_port();
    return socket;
}

Address local_address(const Socket& socket) {
    return system().local_address(socket.fd());
}

Address peer_address(const Socket& socket) { return system().peer_address(socket.fd()); }

bool is_loopback(const Address& address) {
    return address.host.starts_with("127.") || address.host == "::1";
}

bool is_any(const Address& address) {
    return address.host == "0.0.0.0" || address.host == "::";
}

bool is_connected_to_itself(const Socket& socket) {
    const Address mine = local_address(socket), theirs = peer_address(socket);
    return mine.port != 0 && mine.port == theirs.port && mine.host == theirs.host;
}

Socket connect_to(const Address& address, Deadline deadline, Refusal refusal) {
    AddressList targets = resolve(address, deadline);
    Deadline next_look_up = deadline_after(kLookUpPause);
    WaitWarning warning;
    while (true) {
        Socket socket = try_each(targets, deadline);
        if (socket.is_open()) return socket;
        const int error = errno;
        const std::string reason =
            concat("no connection to ", to_text(address), numbers_text(address, targets),
                   ": ", system_message("connect", error));
        if (error == ECONNREFUSED && refusal == Refusal::kNoMore)
            throw ConnectionClosed(reason);
        if (error == ENETUNREACH && is_loopback(address))
            throw Error(reason,
                        "; the loopback interface is down: run \"ip link set lo "
                        "up\", or use run_threads in place of processes");
        if (has_passed(deadline)) throw Timeout(reason);
        warning.check(reason, deadline);
        sleep_for(kRetryPause);
        if (!has_passed(next_look_up)) continue;
        look_up_again(address, targets);
        next_look_up = deadline_after(kLookUpPause);
    }
}

Socket accept_from(const Socket& listener, const std::function<bool()>& make_room) {
    Socket socket(system().accept(listener.fd()));
    if (socket.is_open() || !has_no_room(errno)) return socket;
    MINI_CHECK(make_room, system_message("accept", errno), "; raise ulimit -n");
    if (!make_room()) sleep_for(kAcceptPause);
    return socket;
}

bool wait_for(const Socket& socket, short events, Deadline deadline) {
    while (true) {
        pollfd entry{socket.fd(), events, 0};
        const int ready = poll_until({&entry, 1}, deadline);
        if (ready > 0) return true;
        MINI_CHECK(ready == 0 || errno == EINTR, system_message("poll", errno));
        if (has_passed(deadline)) return false;
    }
}

size_t send_some(const Socket& socket, std::span<const std::byte> bytes,
                 std::span<const std::byte> body) {
    if (bytes.empty() && body.empty()) return 0;
    const ssize_t sent = system().send(socket.fd(), bytes, body);
    if (sent >= 0) return static_cast<size_t>(sent);
    if (is_nothing_yet(errno)) return 0;
    throw ConnectionClosed(system_message("send", errno));
}

size_t recv_some(const Socket& socket, std::span<std::byte> bytes) {
    if (bytes.empty()) return 0;
    const ssize_t received = system().recv(socket.fd(), bytes);
    if (received > 0) return static_cast<size_t>(received);
    if (received == 0) throw ConnectionClosed("the other side closed the connection");
    if (is_nothing_yet(errno)) return 0;
    throw ConnectionClosed(system_message("recv", errno));
}

void send_all(const Socket& socket, std::span<const std::byte> bytes, Deadline deadline) {
    while (!bytes.empty()) {
        const size_t sent = send_some(socket, bytes);
        bytes = bytes.subspan(sent);
        if (sent == 0 && !wait_for(socket, POLLOUT, deadline))
            throw Timeout(concat(other_end(socket), " takes no more bytes"));
    }
}

void recv_all(const Socket& socket, std::span<std::byte> bytes, Deadline deadline) {
    while (!bytes.empty()) {
        const size_t received = recv_some(socket, bytes);
        bytes = bytes.subspan(received);
        if (received == 0 && !wait_for(socket, POLLIN, deadline))
            throw Timeout(concat(other_end(socket), " sends no more bytes"));
    }
}

}  // namespace mini::dist
