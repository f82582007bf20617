// What the descriptors of a simulated system are: connections, listeners and events.
//
//     SimulatedConnection    two ways of the network, as a TCP socket uses them
//     SimulatedListener      connections that wait to be accepted
//     SimulatedEvent         a flag
//
// As with the system calls, a result of -1 comes with errno.

#pragma once

#include <sys/types.h>
#include <cstddef>
#include <deque>
#include <memory>
#include <span>

#include "libmini/distributed/net/system.hpp"
#include "libmini/distributed/simulation/network.hpp"
#include "libmini/distributed/simulation/simulated_time.hpp"

namespace mini::dist {

/// Sets errno and returns -1.
int fail_with(int error);

/// A socket or an event of the process `owner`.
class SimulatedFile : public SimulatedDescriptor {
  public:
    SimulatedFile(int owner, Address address)
        : owner_(owner), address_(std::move(address)) {}

    int owner() const { return owner_; }
    const Address& address() const { return address_; }

    /// The owner has closed it, or its process is dead.
    virtual void close() noexcept {}

  private:
    const int owner_;
    const Address address_;
};

class SimulatedConnection final : public SimulatedFile {
  public:
    /// How much a sender may be ahead of its port: what a socket would buffer.
    static constexpr size_t kBufferBytes = 256 << 10;

    /// The connection is not usable before establish(). The network outlives this.
    SimulatedConnection(Network& network, int owner, Address address, Address peer)
        : SimulatedFile(owner, std::move(address)),
          network_(network),
          peer_(std::move(peer)) {}

    const Address& peer() const { return peer_; }

    void establish(OneWay& out, OneWay& in);

    /// The other side does not accept.
    void fail(int error) { error_ = error; }

    bool is_established() const { return out_ != nullptr; }

    /// The error of an attempt to connect; 0 for none.
    int error() const { return error_; }

    ssize_t send(std::span<const std::byte> head, std::span<const std::byte> body);
    ssize_t recv(std::span<std::byte> bytes);
    void end_sending() noexcept;
    void close() noexcept override;

    /// Whether it connects these two processes.
    bool is_between(int a, int b) const;

    /// The connection breaks. REQUIRES: is_established().
    void cut();

    short ready(short events) const override;

  private:
    size_t room() const;

    Network& network_;
    const Address peer_;
    OneWay* out_ = nullptr;
    OneWay* in_ = nullptr;
    size_t read_ = 0;  // bytes of the first message that has arrived
    int error_ = 0;
    bool has_ended_ = false;  // sends no more
    bool is_closed_ = false;  // receives no more either
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
