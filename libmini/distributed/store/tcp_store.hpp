// The client of the TCP store: a connection to the process that serves it
// (TcpStoreServer).

#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "libmini/distributed/net/failure.hpp"
#include "libmini/distributed/net/hello.hpp"
#include "libmini/distributed/net/socket.hpp"
#include "libmini/distributed/store/store.hpp"
#include "libmini/distributed/store/store_protocol.hpp"

namespace mini::dist {

/// A client of the TCP store. Thread-safe; one call at a time, so a get that waits blocks
/// other threads' calls on the same client (`torch.distributed.TCPStore`). A call that
/// fails with its request partly sent, with an invalid reply, or without a reply that waits
/// for no other rank, closes the connection; all later calls then throw the same error with
/// a note that the connection was closed.
class TcpStore : public Store {
  public:
    /// Connects; tries again until the deadline. Throws Timeout if no server replies at
    /// this address, Error if another program does.
    TcpStore(const Address& server, const Cookie& cookie, Deadline deadline);

    /// The same over an existing connection; error messages name `server` as its peer.
    /// REQUIRES: `connection` is non-blocking.
    TcpStore(Socket connection, const Address& server, const Cookie& cookie,
             Deadline deadline);

    using Store::check;
    using Store::get;
    using Store::wait;

    void set(const std::string& key, const std::string& value) override;
    std::string get(const std::string& key, Deadline deadline) override;
    int64_t add(const std::string& key, int64_t amount) override;
    std::string compare_set(const std::string& key, const std::string& expected,
                            const std::string& desired) override;
    void wait(const std::vector<std::string>& keys, Deadline deadline) override;
    bool check(const std::vector<std::string>& keys) override;
    bool delete_key(const std::string& key) override;
    int64_t num_keys() override;

    /// Returns the local address of the connection to the store, at which the other ranks
    /// can reach this machine.
    std::string local_host() const { return local_address(socket_).host; }

  private:
    std::string ask(protocol::Command command, const std::string& key,
                    const std::string& value, Deadline deadline);
    int64_t ask_number(protocol::Command command, const std::string& key,
                       const std::string& value);

    /// Returns the reply to request `id`; drops replies with other ids, which belong to
    /// requests that timed out. Blocks until the reply is complete; calls throw_silent() if
    /// the deadline passes first. inbox_ then keeps the bytes that have arrived: the next
    /// call continues with them. Throws what recv_some() and take_reply() throw.
    protocol::Reply receive_reply(uint32_t id, Deadline deadline);
    [[noreturn]] void throw_silent() const;
    void close(const Failure& failure);
    Deadline answer_deadline() const;

    Address server_;
    Socket socket_;
    Failure closed_by_;  // why the socket was closed, if it is
    std::mutex mutex_;
    uint32_t next_id_ = 0;
    std::string inbox_;  // the start of a reply whose wait reached its deadline
};

}  // namespace mini::dist
