// System: the interface through which libmini/distributed uses the operating system's
// sockets and events, and gets the identity of the process and the host. A simulation
// replaces the machine's System. Time and threads have another interface,
// time_source.hpp.
//
//     socket.hpp, event.hpp    add deadlines, exceptions and RAII
//     ------------------------- System -------------------------
//     MachineSystem            makes system calls (system.cpp)
//     SimulatedSystem          uses a simulated network (simulation/)

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

/// TCP sockets are non-blocking, closed on exec and without Nagle's delay. A function
/// that returns a descriptor or a ssize_t returns -1 and sets errno if it fails, like the
/// system call of the same name. No function except resolve() blocks. Thread-safe.
class System {
  public:
    /// Looks up the numeric addresses of `address`. Returns 0 and a list that the caller
    /// frees with freeaddrinfo, or an error code of getaddrinfo. Makes no DNS query for
    /// a numeric address; otherwise blocks until the name server replies or the
    /// resolver's own timeout passes.
    virtual int resolve(const Address& address, addrinfo*& found);

    /// Returns a socket that listens at this address. Throws Error, as connect() does, if
    /// the system cannot create a socket.
    virtual int listen(const addrinfo& address) = 0;

    /// Starts to connect, and returns the socket. Sets errno to 0 if the connection is
    /// complete already, and to EINPROGRESS if not.
    virtual int connect(const addrinfo& address) = 0;

    /// Returns 0 if the connection that connect() started is complete, else the errno
    /// value of its failure. REQUIRES: poll has reported POLLOUT.
    virtual int connect_error(int fd) = 0;

    /// Accepts a pending connection and returns its socket.
    virtual int accept(int listener) = 0;

    /// Return the numeric address of the socket's own end, or of its peer; host "?" if
    /// the socket has no such address.
    virtual Address local_address(int fd) = 0;
    virtual Address peer_address(int fd) = 0;

    /// Sends as many bytes of `head` followed by `body` as possible. Returns the number.
    virtual ssize_t send(int fd, std::span<const std::byte> head,
                         std::span<const std::byte> body) = 0;
    /// Receives up to bytes.size() bytes. Returns the number; 0 if the peer has closed
    /// the connection.
    virtual ssize_t recv(int fd, std::span<std::byte> bytes) = 0;

    /// Shuts down the sending direction (SHUT_WR) or both directions (SHUT_RDWR).
    virtual void shutdown(int fd, int how) noexcept = 0;
    virtual void close(int fd) noexcept = 0;

    /// Returns a new descriptor that poll reports as readable from set_event() until
    /// clear_event().
    virtual int new_event() = 0;
    virtual void set_event(int fd) noexcept = 0;
    virtual void clear_event(int fd) noexcept = 0;

    /// Returns the host name of this machine.
    virtual std::string host_name() = 0;

    /// Returns an identifier of this host and network namespace: the kernel's boot id and
    /// the namespace.
    virtual std::string host_id() = 0;

    virtual int process_id() = 0;

    /// Returns 64 random bits that no other process of the run can guess.
    virtual uint64_t random_number() = 0;

  protected:
    // Not virtual: MachineSystem must be trivially destructible, because threads that
    // outlive main() may still call it.
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

}  // namespace mini::dist
