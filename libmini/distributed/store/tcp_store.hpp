// The client of the TCP store, whose server is a TcpStoreServer.

#pragma once

#include <mutex>
#include <string>

#include "libmini/distributed/net/failure.hpp"
#include "libmini/distributed/net/hello.hpp"
#include "libmini/distributed/net/socket.hpp"
#include "libmini/distributed/store/store.hpp"
#include "libmini/distributed/store/store_connection.hpp"

namespace mini::dist {

/// A client of the TCP store (`torch.distributed.TCPStore`). Thread-safe, but one call at
/// a time: a get that waits blocks other threads' calls on the same client. After an
/// error that closes the connection (ask_server) all later calls throw it, with a note.
class TcpStore : public Store {
  public:
    /// Connects to the server; blocks, and tries again until the deadline. Throws Timeout
    /// if no process replies at this address, Error if another program replies.
    TcpStore(const Address& server, const Cookie& cookie, Deadline deadline);

    /// Uses a non-blocking connection; error messages name `server` as the peer.
    TcpStore(Socket connection, const Address& server, const Cookie& cookie,
             Deadline deadline);

    /// Returns the local address of the connection to the store: other ranks can reach
    /// this machine at this address.
    std::string local_host() const { return local_address(connection_.socket).host; }

    /// Returns the numeric address of the server.
    std::string server_address() const {
        return to_text(peer_address(connection_.socket));
    }

  protected:
    std::string ask(protocol::Request request, Deadline deadline) override;
    std::string place() const override {
        return concat("the store at ", to_text(server_));
    }

  private:
    [[noreturn]] void fail(const Failure& failure);

    Address server_;
    StoreConnection connection_;
    Failure closed_by_;  // why the connection was closed, if it is closed
    std::mutex mutex_;
};

}  // namespace mini::dist
