#include "libmini/distributed/net/system.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "libmini/core/descriptor.hpp"
#include "libmini/core/error.hpp"
#include "libmini/core/machine.hpp"
#include "libmini/core/thread.hpp"
#include "libmini/distributed/net/clock.hpp"

namespace mini::dist {
namespace {

// Enough to keep both directions busy until a rank wakes up. Only on the loopback
// interface: between hosts, Linux adapts the buffers to the connection, up to more than
// this, until a program sets their size.
constexpr int kBufferBytes = 1 << 20;

// How many connections may wait to be accepted.
constexpr int kBacklog = 512;

void set_option(int fd, int level, int option, int value) {
    ::setsockopt(fd, level, option, &value, sizeof value);
}

bool is_loopback(const addrinfo& address) {
    if (address.ai_family == AF_INET) {
        sockaddr_in v4{};
        std::memcpy(&v4, address.ai_addr, sizeof v4);
        return ntohl(v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    }
    if (address.ai_family != AF_INET6) return false;
    sockaddr_in6 v6{};
    std::memcpy(&v6, address.ai_addr, sizeof v6);
    return std::memcmp(&v6.sin6_addr, &in6addr_loopback, sizeof in6addr_loopback) == 0;
}

// Returns a socket with SO_REUSEADDR: a new run can listen on the port of a finished run,
// and a rank can listen on a given port even if the kernel has chosen this port for an
// outgoing connection.
Descriptor new_tcp_socket(const addrinfo& address) {
    Descriptor socket(
        ::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    MINI_CHECK(socket.is_open(), system_message("socket", errno));
    set_option(socket.fd(), IPPROTO_TCP, TCP_NODELAY, 1);
    if (is_loopback(address))
        for (const int buffer : {SO_SNDBUF, SO_RCVBUF})
            set_option(socket.fd(), SOL_SOCKET, buffer, kBufferBytes);
    set_option(socket.fd(), SOL_SOCKET, SO_REUSEADDR, 1);
    return socket;
}

// Closes the descriptor and returns -1; does not change errno.
int failed(Descriptor descriptor) {
    const int error = errno;
    descriptor.close();
    errno = error;
    return -1;
}

using GetName = int (*)(int, sockaddr*, socklen_t*);

Address numeric_address(int fd, GetName get_name) {
    sockaddr_storage storage{};
    socklen_t length = sizeof storage;
    auto* const address = reinterpret_cast<sockaddr*>(&storage);
    if (get_name(fd, address, &length) != 0) return {"?", 0};
    if (storage.ss_family != AF_INET && storage.ss_family != AF_INET6) return {"?", 0};
    std::array<char, NI_MAXHOST> host{};
    std::array<char, NI_MAXSERV> port{};
    const int code = ::getnameinfo(address, length, host.data(), host.size(), port.data(),
                                   port.size(), NI_NUMERICHOST | NI_NUMERICSERV);
    if (code != 0) return {"?", 0};
    return {host.data(), std::stoi(port.data())};
}

}  // namespace

int System::resolve(const Address& address, addrinfo*& found) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    return ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(),
                         &hints, &found);
}

int System::listen(const addrinfo& address) {
    Descriptor socket = new_tcp_socket(address);
    // Accepted connections inherit the buffer sizes.
    if (::bind(socket.fd(), address.ai_addr, address.ai_addrlen) != 0 ||
        ::listen(socket.fd(), kBacklog) != 0)
        return failed(std::move(socket));
    return socket.release();
}

int System::connect(const addrinfo& address) {
    Descriptor socket = new_tcp_socket(address);
    errno = 0;
    if (::connect(socket.fd(), address.ai_addr, address.ai_addrlen) != 0) {
        if (errno == EINTR) errno = EINPROGRESS;
        if (errno != EINPROGRESS) return failed(std::move(socket));
    }
    return socket.release();
}

int System::connect_error(int fd) {
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    return error;
}

int System::accept(int listener) {
    const int fd = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    return fd;
}

Address System::local_address(int fd) { return numeric_address(fd, ::getsockname); }

Address System::peer_address(int fd) { return numeric_address(fd, ::getpeername); }

// Makes one system call, so that a small message is sent in one packet.
ssize_t System::send(int fd, std::span<const std::byte> head,
                     std::span<const std::byte> body) {
    iovec parts[2] = {{const_cast<std::byte*>(head.data()), head.size()},
                      {const_cast<std::byte*>(body.data()), body.size()}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    return ::sendmsg(fd, &message, MSG_NOSIGNAL);
}

ssize_t System::recv(int fd, std::span<std::byte> bytes) {
    return ::recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
}

void System::shutdown(int fd, int how) noexcept { ::shutdown(fd, how); }
void System::close(int fd) noexcept { ::close(fd); }

int System::new_event() { return ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

void System::set_event(int fd) noexcept {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = ::write(fd, &one, sizeof one);
}

void System::clear_event(int fd) noexcept {
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t n = ::read(fd, &count, sizeof count);
}

std::string System::host_name() { return mini::host_name(); }

std::string System::host_id() {
    std::string boot;
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
    std::array<char, 64> network{};
    const ssize_t n = ::readlink("/proc/self/ns/net", network.data(), network.size() - 1);
    return concat(boot.empty() ? "?" : boot, "/", n > 0 ? network.data() : "?");
}

int System::process_id() { return ::getpid(); }

uint64_t System::random_number() {
    std::random_device random;
    return uint64_t{random()} << 32 | random();
}

System::Moment System::now() noexcept { return std::chrono::steady_clock::now(); }

void System::sleep_until(Moment moment) { std::this_thread::sleep_until(moment); }

void System::yield() { ::sched_yield(); }

int System::poll(std::span<pollfd> entries, Moment deadline) {
    const timespec left = time_left(deadline, now());
    return ::ppoll(entries.data(), entries.size(), &left, nullptr);
}

void System::wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
                  Moment deadline) {
    if (deadline == Moment::max()) return changed.wait(lock);
    changed.wait_until(lock, deadline);
}

void System::notify_all(std::condition_variable& changed) noexcept {
    changed.notify_all();
}

std::function<void()> System::start_thread(std::function<void()> body) {
    const auto thread =
        std::make_shared<std::thread>(mini::start_thread(std::move(body)));
    return [thread] { thread->join(); };
}

namespace {

struct MachineSystem final : System {};

constinit MachineSystem machine_system;
static_assert(std::is_trivially_destructible_v<MachineSystem>);
constinit std::atomic<System*> system_in_use = &machine_system;

}  // namespace

System& system() noexcept { return *system_in_use.load(std::memory_order_acquire); }

SystemGuard::SystemGuard(System& system) { system_in_use = &system; }

SystemGuard::~SystemGuard() { system_in_use = &machine_system; }

timespec time_left(System::Moment deadline, System::Moment now) {
    constexpr std::chrono::nanoseconds kNone(0), kLongest(std::chrono::seconds(1000));
    std::chrono::nanoseconds left = kNone;
    if (deadline > now)
        left = std::min<std::chrono::nanoseconds>(deadline - now, kLongest);
    constexpr int64_t kSecond = 1'000'000'000;
    timespec time{};
    time.tv_sec = left.count() / kSecond;
    time.tv_nsec = left.count() % kSecond;
    return time;
}

// The functions of clock.hpp.

Clock::time_point Clock::now() noexcept { return system().now(); }

void sleep_for(std::chrono::nanoseconds time) {
    system().sleep_until(Clock::now() + time);
}

void yield() { system().yield(); }

int poll_until(std::span<pollfd> entries, Deadline deadline) {
    return system().poll(entries, deadline);
}

void pause(int looks) {
    constexpr int kSpins = 200;
    if (looks < kSpins) return yield();
    sleep_for(std::chrono::microseconds(50));
}

}  // namespace mini::dist
