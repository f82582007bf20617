// The store as seen from a rank: a connection to the process that keeps it
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

/// A client of the TCP store. Thread-safe; one call at a time, so a get that waits keeps
/// other threads' calls on the same client waiting (`torch.distributed.TCPStore`). A call
/// that fails with its request half sent, or its reply half understood, closes the
/// connection; all later calls then throw the same error and say so.
class TcpStore : public Store {
  public:
    /// Connects, trying again until the deadline. Throws Timeout when no server
    /// answers there, Error when another program does.
    TcpStore(const Address& server, const Cookie& cookie, Deadline deadline);

    /// The same over a connection that is there already; messages call its other end
    /// `server`. REQUIRES: `connection` is non-blocking.
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

    /// The address by which this machine reaches the store: one where others can reach
    /// it.
    std::string local_host() const { return local_address(socket_).host; }

  private:
    std::string ask(protocol::Command command, const std::string& key,
                    const std::string& value, Deadline deadline);
    int64_t ask_number(protocol::Command command, const std::string& key,
                       const std::string& value);
    protocol::Reply receive_reply(uint32_t id, Deadline deadline);
    void close(const Failure& failure);
    Deadline answer_deadline() const;

    Address server_;
    Socket socket_;
    Failure closed_by_;  // once the socket is closed
    std::mutex mutex_;
    uint32_t next_id_ = 0;
    std::string inbox_;  // the beginning of a reply that a deadline cut short
};

}  // namespace mini::dist
