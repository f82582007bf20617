// A channel through memory that two ranks share: one ring of bytes in each direction.
//
//     rank 0   writes ->  [ ring 0 ]  -> reads    rank 1
//              reads  <-  [ ring 1 ]  <- writes
//              socket <- - - - - - - - -> socket  one byte wakes a sleeping side; the
//                                                 socket closes when a side is gone
//
// Each byte is copied twice by the CPU. No system call is needed while both sides are
// awake.

#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "libmini/distributed/transport/byte_ring.hpp"
#include "libmini/distributed/transport/channel.hpp"
#include "libmini/distributed/transport/shared_memory.hpp"

namespace mini::dist {

class RingChannel : public Channel {
  public:
    enum class Side { kFirst, kSecond };

    /// Returns the size of the memory that two of `world_size` ranks share. All rings of a
    /// rank have about 4 MiB together, so that a host with many ranks needs little memory.
    static size_t memory_bytes(int world_size = 2);

    /// REQUIRES: `memory` has memory_bytes(world_size) bytes, initially zero, and is
    /// shared with the other side; the other side has the other end of the socket and the
    /// other Side.
    RingChannel(Socket socket, std::shared_ptr<Memory> memory, Side side,
                int world_size = 2);

    size_t send_some(std::span<const std::byte> head,
                     std::span<const std::byte> body) override;
    size_t recv_some(std::span<std::byte> place) override;
    size_t recv_combine(std::span<std::byte> place, const Combine& combine) override;
    bool prepare_to_sleep(int interest, short& events) override;
    void wake_up(short revents) override;
    bool shares_memory() const override { return true; }
    const Socket& socket() const override { return socket_; }

  private:
    void check_open() const;
    void wake_other() noexcept;
    size_t take(std::span<std::byte> place);
    void release();

    Socket socket_;
    std::shared_ptr<Memory> memory_;
    ByteRing out_;
    ByteRing in_;
    size_t needed_ = 1;    // bytes that the last receive needed to make progress
    bool closed_ = false;  // the other side has closed the socket
};

}  // namespace mini::dist
