// The client of the TCP store: a connection to the process that serves the store
// (TcpStoreServer).

#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "libmini/distributed/net/failure.hpp"
#include "libmini/distributed/net/hello.hpp"
#include "libmini/distributed/net/socket.hpp"
#include "libmini/distributed/store/store.hpp"
#include "libmini/distributed/store/store_protocol.hpp"

namespace mini::dist {

/// A client of the TCP store (`torch.distributed.TCPStore`). Thread-safe, but one call at
/// a time: a get that waits blocks other threads' calls on the same client. A call closes
/// the connection if its request was only partly sent, if the reply is invalid, or if a
/// call that does not wait for another rank (set, add, check, ...) gets no reply in time.
/// All later calls then throw the same error, with a note that the connection was closed.
class TcpStore : public Store {
  public:
    /// Connects to the server; blocks, and tries again until the deadline. Throws Timeout
    /// if no process replies at this address, Error if another program replies.
    TcpStore(const Address& server, const Cookie& cookie, Deadline deadline);

    /// Uses an existing connection; error messages name `server` as the peer.
    /// REQUIRES: `connection` is non-blocking.
    TcpStore(Socket connection, const Address& server, const Cookie& cookie,
             Deadline deadline);

    /// Returns the local address of the connection to the store: other ranks can reach
    /// this machine at this address.
    std::string local_host() const { return local_address(socket_).host; }

    /// Returns the numeric address of the server.
    std::string server_address() const { return to_text(peer_address(socket_)); }

  protected:
    std::string ask(protocol::Request request, Deadline deadline) override;
    std::string place() const override {
        return concat("the store at ", to_text(server_));
    }

  private:
    /// Returns the reply to request `id`; drops replies with other ids, which belong to
    /// requests that timed out. Blocks until the reply is complete. If the deadline
    /// passes first, calls throw_silent(); inbox_ then keeps the bytes that have arrived,
    /// and the next call continues with these bytes. Passes on the errors of recv_some()
    /// and take_reply().
    protocol::Reply receive_reply(uint32_t id, Deadline deadline);
    [[noreturn]] void throw_silent() const;
    void close(const Failure& failure);

    Address server_;
    Socket socket_;
    Failure closed_by_;  // why the socket was closed, if it is closed
    std::mutex mutex_;
    uint32_t next_id_ = 0;
    std::string inbox_;  // received bytes of a reply that is not complete yet
};

}  // namespace mini::dist
