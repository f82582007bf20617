// The descriptors of a simulated system: connections, listeners and events.
//
//     SimulatedConnection    a TCP socket: two directions of the network
//     SimulatedListener      a queue of connections that wait to be accepted
//     SimulatedEvent         a flag
//
// Like system calls, functions that fail return -1 and set errno.

#pragma once

#include <sys/types.h>
#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <utility>

#include "libmini/distributed/net/socket.hpp"
#include "libmini/extras/simulation/network.hpp"

namespace mini::dist {

/// Sets errno and returns -1.
int fail_with(int error);

/// A socket or an event of the process `owner`. A change that may make it ready wakes the
/// tasks of its process.
class SimulatedFile {
  public:
    SimulatedFile(int owner, Address address)
        : owner_(owner), address_(std::move(address)) {}
    virtual ~SimulatedFile() = default;

    int owner() const { return owner_; }
    const Address& address() const { return address_; }

    /// Called when the owner closes the descriptor, or when the owner is killed.
    virtual void close() noexcept {}

    /// Returns those of `events` that have occurred, like revents of poll(2), but never
    /// POLLERR or POLLHUP.
    virtual short ready(short events) const = 0;

  private:
    const int owner_;
    const Address address_;
};

class SimulatedConnection final : public SimulatedFile {
  public:
    /// The size of the send buffer: at most this many bytes wait for the sender's port.
    static constexpr size_t kBufferBytes = 256 << 10;

    /// Constructs one end of a connection, which is not usable before establish().
    /// REQUIRES: the network outlives this object.
    SimulatedConnection(Network& network, int owner, Address address, Address peer)
        : SimulatedFile(owner, std::move(address)),
          network_(network),
          peer_(std::move(peer)) {}

    const Address& peer() const { return peer_; }

    /// Connects this end: it sends on `out` and receives on `in`.
    void establish(OneWay& out, OneWay& in);

    /// Records that the attempt to connect has failed with this errno.
    void fail(int error) { error_ = error; }

    bool is_established() const { return out_ != nullptr; }

    /// Returns the errno of a failed attempt to connect, else 0.
    int error() const { return error_; }

    ssize_t send(std::span<const std::byte> head, std::span<const std::byte> body);
    ssize_t recv(std::span<std::byte> bytes);
    void end_sending() noexcept;
    void close() noexcept override;

    /// Returns whether this connects the processes `a` and `b`, in either direction.
    bool is_between(int a, int b) const;

    /// Breaks the connection in both directions. REQUIRES: is_established().
    void cut();

    short ready(short events) const override;

  private:
    size_t room() const;

    Network& network_;
    const Address peer_;
    OneWay* out_ = nullptr;
    OneWay* in_ = nullptr;
    size_t read_ = 0;  // bytes already read of in_->arrived()
    int error_ = 0;
    bool has_ended_ = false;  // end_sending() or close() was called
    bool is_closed_ = false;  // close() was called
};

class SimulatedListener final : public SimulatedFile {
  public:
    using SimulatedFile::SimulatedFile;

    std::deque<std::unique_ptr<SimulatedConnection>> backlog;

    void close() noexcept override;
    short ready(short events) const override;
};

class SimulatedEvent final : public SimulatedFile {
  public:
    explicit SimulatedEvent(int owner) : SimulatedFile(owner, {"?", 0}) {}

    bool is_set = false;

    short ready(short events) const override;
};

}  // namespace mini::dist
