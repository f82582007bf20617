// The server of the TCP store: one thread, one poll loop, a dictionary.
//
// The server listens only on the given address, so on loopback no other machine can reach
// the server. The server closes a connection that sends no Hello with the run's cookie
// within two seconds, or sends an invalid request; other connections are not affected:
//
//     too many without Hello    the oldest connection without a Hello is closed
//     too many clients          the new client's connection is closed
//     no descriptors left       the oldest connection without a Hello is closed; if all
//                               have sent a Hello, the server pauses accepting
//     too many keys or bytes    the call is rejected, with a reason
//     too many bytes buffered   the client with the most buffered bytes is closed
//     no memory                 the connection that needed the memory is closed

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "libmini/distributed/net/hello.hpp"
#include "libmini/distributed/net/socket.hpp"
#include "libmini/distributed/store/store_requests.hpp"

namespace mini::dist {

/// Counts since the server started.
struct StoreCounters {
    uint64_t accepted = 0;           // all connections
    uint64_t clients = 0;            // connections that sent a valid Hello
    uint64_t strangers = 0;          // connections closed before a valid Hello
    uint64_t refused = 0;            // clients beyond the limit of connections
    uint64_t broken = 0;             // clients closed for an invalid request
    uint64_t over_memory = 0;        // clients closed because memory was short
    uint64_t requests = 0;           // requests received
    uint64_t connected_clients = 0;  // clients that are connected now
};

class TcpStoreServer {
  public:
    /// Listens and starts the thread; port 0 takes any free port. Logs a warning if other
    /// machines can reach the address and there is no cookie. Throws Error if the address
    /// is in use or does not belong to this machine.
    TcpStoreServer(const Address& address, const Cookie& cookie, StoreLimits limits = {});

    /// Closes all connections; the waiting calls of clients throw PeerLost.
    ~TcpStoreServer();
    TcpStoreServer(const TcpStoreServer&) = delete;
    TcpStoreServer& operator=(const TcpStoreServer&) = delete;

    /// Returns the address on which the server listens, with the actual port.
    Address address() const;

    StoreCounters counters() const;

    /// Blocks until all clients have disconnected; each client then has its last reply.
    /// Returns false if the deadline passes first.
    bool wait_until_alone(Deadline deadline);

  private:
    class Loop;
    std::unique_ptr<Loop> loop_;
};

}  // namespace mini::dist
