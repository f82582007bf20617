// A channel over a socket: TCP between hosts.

#pragma once

#include <span>

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
    bool prepare_to_sleep(int interest, short& events) override;
    void wake_up(short revents) override;
    const Socket& socket() const override { return socket_; }

  private:
    Socket socket_;
    bool is_gone_ = false;  // the other side has shut down its sending side
};

}  // namespace mini::dist
