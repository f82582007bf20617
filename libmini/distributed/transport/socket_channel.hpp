// A channel over a socket: TCP between hosts.

#pragma once

#include <span>
#include <vector>

#include "libmini/distributed/transport/channel.hpp"

namespace mini::dist {

class SocketChannel : public Channel {
  public:
    /// REQUIRES: a connected, non-blocking stream socket.
    explicit SocketChannel(Socket socket) : socket_(std::move(socket)) {}
    ~SocketChannel() override;

    size_t send_some(std::span<const std::byte> head,
                     std::span<const std::byte> body) override;
    size_t recv_some(std::span<std::byte> place) override;
    size_t recv_combine(std::span<std::byte> place, const Combine& combine) override;
    bool prepare_to_sleep(int interest, short& events) override;
    void wake_up(short revents) override;
    const Socket& socket() const override { return socket_; }

  private:
    Socket socket_;
    std::vector<std::byte>
        staging_;           // received bytes that recv_combine has not combined yet
    bool is_gone_ = false;  // the other side has shut down its sending side
    size_t staged_ = 0;     // bytes of an incomplete element
};

}  // namespace mini::dist
