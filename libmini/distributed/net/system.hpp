// System: what libmini/distributed uses of the operating system: sockets, events, the
// identity of the process and the host, the clock, threads, and all their waits.
//
//     socket.hpp, event.hpp    add deadlines, exceptions and RAII to sockets and events
//     clock.hpp, wait_on.hpp   are the functions that wait
//     ------------------------- System -------------------------
//     System                   makes the machine's system calls (system.cpp)
//     SimulatedSystem          overrides them: a simulated network, in virtual time
//                              (simulation/)
//
// A test can override single functions, such as the clock.

#pragma once

#include <netdb.h>
#include <poll.h>

#include <sys/types.h>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <functional>
#include <mutex>
#include <span>
#include <string>

namespace mini::dist {

/// A host name or number and a port.
struct Address {
    std::string host;
    int port = 0;
};

/// TCP sockets are non-blocking, closed on exec and without Nagle's delay. A function
/// that returns a descriptor or a ssize_t returns -1 and sets errno if it fails, like the
/// system call of the same name. Of the functions for sockets and events, only resolve()
/// blocks. Thread-safe.
class System {
  public:
    /// Looks up the numeric addresses of `address`. Returns 0 and a list that the caller
    /// frees with freeaddrinfo, or an error code of getaddrinfo. Makes no DNS query for
    /// a numeric address; otherwise blocks until the name server replies or the
    /// resolver's own timeout passes.
    virtual int resolve(const Address& address, addrinfo*& found);

    /// Returns a socket that listens at this address. Throws Error, as connect() does, if
    /// the system cannot create a socket.
    virtual int listen(const addrinfo& address);

    /// Starts to connect, and returns the socket. Sets errno to 0 if the connection is
    /// complete already, and to EINPROGRESS if not.
    virtual int connect(const addrinfo& address);

    /// Returns 0 if the connection that connect() started is complete, else the errno
    /// value of its failure. REQUIRES: poll has reported POLLOUT.
    virtual int connect_error(int fd);

    /// Accepts a pending connection and returns its socket.
    virtual int accept(int listener);

    /// Return the numeric address of the socket's own end, or of its peer; host "?" if
    /// the socket has no such address.
    virtual Address local_address(int fd);
    virtual Address peer_address(int fd);

    /// Sends as many bytes of `head` followed by `body` as possible. Returns the number.
    virtual ssize_t send(int fd, std::span<const std::byte> head,
                         std::span<const std::byte> body);
    /// Receives up to bytes.size() bytes. Returns the number; 0 if the peer has closed
    /// the connection.
    virtual ssize_t recv(int fd, std::span<std::byte> bytes);

    /// Shuts down the sending direction (SHUT_WR) or both directions (SHUT_RDWR).
    virtual void shutdown(int fd, int how) noexcept;
    virtual void close(int fd) noexcept;

    /// Returns a new descriptor that poll reports as readable from set_event() until
    /// clear_event().
    virtual int new_event();
    virtual void set_event(int fd) noexcept;
    virtual void clear_event(int fd) noexcept;

    /// Returns the host name of this machine.
    virtual std::string host_name();

    /// Returns an identifier of this host and network namespace: the kernel's boot id and
    /// the namespace.
    virtual std::string host_id();

    virtual int process_id();

    /// Returns 64 random bits that no other process of the run can guess.
    virtual uint64_t random_number();

    // Time and threads. The functions of clock.hpp and wait_on.hpp call these.

    /// The time_point of Clock and of std::chrono::steady_clock.
    using Moment = std::chrono::steady_clock::time_point;

    /// Returns the current time; never blocks.
    virtual Moment now() noexcept;

    /// Blocks until `moment`.
    virtual void sleep_until(Moment moment);

    /// Gives the core to other threads before this thread continues.
    virtual void yield();

    /// Blocks until one of `entries` has an event, `deadline` has passed or a signal
    /// arrives; may return earlier. Returns what poll(2) returns.
    virtual int poll(std::span<pollfd> entries, Moment deadline);

    /// Blocks until a thread has notified `changed` or `deadline` has passed; may return
    /// earlier. Releases the lock while it blocks.
    virtual void wait(std::condition_variable& changed,
                      std::unique_lock<std::mutex>& lock, Moment deadline);

    /// Wakes all threads that wait for `changed`.
    virtual void notify_all(std::condition_variable& changed) noexcept;

    /// Starts a thread that calls `body`. Returns a function that blocks until the thread
    /// has returned; it must be called once. Throws Error, with advice, if the system
    /// cannot start a thread.
    virtual std::function<void()> start_thread(std::function<void()> body);

  protected:
    // Not virtual: the machine's System must be trivially destructible, because threads
    // that outlive main() may still call it.
    ~System() = default;
};

/// Returns the System in use: the machine's, unless a SystemGuard replaces it.
System& system() noexcept;

/// Replaces the machine's System by `system` for the lifetime of the guard. REQUIRES: no
/// thread uses system() while the guard is constructed or destroyed; only one guard
/// exists at a time.
class SystemGuard {
  public:
    explicit SystemGuard(System& system);
    ~SystemGuard();
    SystemGuard(const SystemGuard&) = delete;
    SystemGuard& operator=(const SystemGuard&) = delete;
};

/// Returns the timeout for ppoll(): the time from `now` to `deadline`, at most 1000 s; 0
/// if the deadline has passed.
timespec time_left(System::Moment deadline, System::Moment now);

}  // namespace mini::dist
