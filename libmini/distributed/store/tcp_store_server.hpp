// The server of the TCP store: one thread, one poll loop, a dictionary.
//
// It listens on exactly the given address, so on loopback no other machine can reach it.
// A connection must send a Hello with the run's cookie within two seconds. A connection
// that sends other bytes, or too few, or exceeds the limits, is closed; other connections
// are not affected:
//
//     too many connections      the oldest one that has sent no Hello is closed
//     no descriptors left       connections without Hello are closed; then a pause
//     too many keys or bytes    the call is rejected, with a reason
//     too many bytes buffered   the client with the most is closed
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
    uint64_t over_memory = 0;        // clients closed for want of memory
    uint64_t requests = 0;           // requests received
    uint64_t connected_clients = 0;  // now
};

class TcpStoreServer {
  public:
    /// Listens and starts the thread; port 0 takes any free port. Logs a warning if other
    /// machines can reach the address and there is no cookie. Throws Error if the address
    /// is in use or does not belong to this machine.
    TcpStoreServer(const Address& address, const Cookie& cookie, StoreLimits limits = {});

    /// Closes all connections; calls of clients that wait throw PeerLost.
    ~TcpStoreServer();
    TcpStoreServer(const TcpStoreServer&) = delete;
    TcpStoreServer& operator=(const TcpStoreServer&) = delete;

    /// Returns the address on which the server listens, with the actual port.
    Address address() const;

    StoreCounters counters() const;

    /// Blocks until all clients have disconnected, so that each has received its last
    /// replies. Returns false if the deadline passed.
    bool wait_until_alone(Deadline deadline);

  private:
    class Loop;
    std::unique_ptr<Loop> loop_;
};

}  // namespace mini::dist
