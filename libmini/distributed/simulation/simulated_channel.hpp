// A channel between two simulated ranks: a TCP connection, as SocketChannel uses one.
//
//     send_some       takes bytes while fewer than kBufferBytes wait at the port
//     end_sending     the other side receives what was sent, then ConnectionClosed
//     close           the same, and what the other side sends throws there
//
// Bytes travel as messages of the Network: what one call of send_some takes is one message.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "libmini/distributed/simulation/network.hpp"
#include "libmini/distributed/simulation/simulated_time.hpp"
#include "libmini/distributed/transport/channel.hpp"

namespace mini::dist {

/// The end of a connection that belongs to rank `rank`.
class SimulatedChannel final : public Channel, private SimulatedDescriptor {
  public:
    /// How much a sender may be ahead of its port: what a socket would buffer.
    static constexpr size_t kBufferBytes = 256 << 10;

    /// Rank `rank` is the task of that number. The references outlive this.
    SimulatedChannel(SimulatedTime& time, Network& network, int rank, int peer);
    ~SimulatedChannel() override;
    SimulatedChannel(const SimulatedChannel&) = delete;
    SimulatedChannel& operator=(const SimulatedChannel&) = delete;

    size_t send_some(std::span<const std::byte> head,
                     std::span<const std::byte> body) override;
    size_t recv_some(std::span<std::byte> place) override;
    size_t recv_combine(std::span<std::byte> place, const Combine& combine) override;
    bool prepare_to_sleep(int interest, short& events) override;
    void wake_up(short revents) override;
    const Socket& socket() const override { return no_socket_; }
    int poll_fd() const override { return fd_; }
    void end_sending() noexcept override;
    void close() noexcept override;

  private:
    short ready(short events) const override;
    size_t room() const;

    SimulatedTime& time_;
    Network& network_;
    const int rank_, peer_;
    const int fd_;
    const Socket no_socket_;
    size_t read_ = 0;                // bytes of the first message that has arrived
    std::vector<std::byte> staged_;  // of an element that has arrived in part
    bool has_ended_ = false;         // sends no more
    bool is_closed_ = false;         // receives no more either
    bool is_gone_ = false;           // the other side receives no more, as poll reported
};

}  // namespace mini::dist
