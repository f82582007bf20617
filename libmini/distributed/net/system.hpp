// What libmini/distributed uses of the operating system besides time (time_source.hpp):
// sockets, events, and what identifies a process. A simulation replaces it.
//
//     socket.hpp, event.hpp    deadlines, errors, owners
//     ------------------------- System -------------------------
//     the machine's            system calls
//     SimulatedSystem          a simulated network (simulation/)

#pragma once

#include <netdb.h>

#include <sys/types.h>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace mini::dist {

/// A host name or number and a port.
struct Address {
    std::string host;
    int port = 0;
};

/// TCP sockets are non-blocking, closed on exec and without Nagle's delay. Functions that
/// return an int or a ssize_t return -1 with errno set when they fail, as the system call
/// of the same name. None blocks. Thread-safe.
class System {
  public:
    /// Returns a socket that listens at this address. Throws Error, as connect() does, if the
    /// process can have no further socket.
    virtual int listen(const addrinfo& address) = 0;

    /// Returns a socket that is connected, or begins to connect: then errno is
    /// EINPROGRESS, otherwise 0.
    virtual int connect(const addrinfo& address) = 0;

    /// Returns 0 when the connection that connect() began has been made, or the error.
    /// REQUIRES: poll has reported POLLOUT.
    virtual int connect_error(int fd) = 0;

    /// Returns a connection that waits to be accepted.
    virtual int accept(int listener) = 0;

    /// Returns the numeric address of the socket's own end, or of its peer; host "?" if
    /// there is none.
    virtual Address local_address(int fd) = 0;
    virtual Address peer_address(int fd) = 0;

    /// Sends the beginning of `head` followed by `body`.
    virtual ssize_t send(int fd, std::span<const std::byte> head,
                         std::span<const std::byte> body) = 0;
    virtual ssize_t recv(int fd, std::span<std::byte> bytes) = 0;

    /// Ends the sending direction (SHUT_WR) or both (SHUT_RDWR).
    virtual void shutdown(int fd, int how) noexcept = 0;
    virtual void close(int fd) noexcept = 0;

    /// Returns a descriptor that poll reports as readable from set_event() until
    /// clear_event().
    virtual int new_event() = 0;
    virtual void set_event(int fd) noexcept = 0;
    virtual void clear_event(int fd) noexcept = 0;

    /// Returns the name of this host, as people know it.
    virtual std::string host_name() = 0;

    /// Returns an identifier of this host and network namespace: the kernel's boot id and
    /// the namespace. Two processes with the same identifier can connect to each other's
    /// UNIX sockets.
    virtual std::string host_id() = 0;

    virtual int process_id() = 0;

    /// Returns 64 random bits that no other process of the run can guess.
    virtual uint64_t random_number() = 0;

  protected:
    // Not virtual: the machine's system must be trivially destructible, because threads
    // that outlive main() may still call it.
    ~System() = default;
};

/// Returns the system of the process.
System& system() noexcept;

/// Replaces the machine's system by `system` for the lifetime of the guard. REQUIRES: no
/// thread calls system() when the guard is constructed or destroyed; only one guard exists
/// at a time.
class SystemGuard {
  public:
    explicit SystemGuard(System& system);
    ~SystemGuard();
    SystemGuard(const SystemGuard&) = delete;
    SystemGuard& operator=(const SystemGuard&) = delete;
};

}  // namespace mini::dist
