// The server of the TCP store: one thread, one poll loop, a dictionary.
//
// It listens on exactly the address it was given, so on loopback no other machine
// can reach it. A connection must say Hello with the run's cookie within two
// seconds; one that says anything else, or too little, or asks for more than the caps
// allow, is closed; other connections are not affected:
//
//     a flood of connections    the oldest that has not said Hello makes room
//     no descriptors left       connections without Hello are dropped, then accepting pauses
//     too many keys or bytes    the call is refused, with a reason
//     too much under way        the client with most in requests and answers is closed
//     no memory                 the connection that asked for it is closed

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "libmini/distributed/net/hello.hpp"
#include "libmini/distributed/net/socket.hpp"
#include "libmini/distributed/store/store_requests.hpp"

namespace mini::dist {

/// What a server has seen since it started.
struct StoreCounters {
    uint64_t accepted = 0;           // connections
    uint64_t clients = 0;            // of them, those that said Hello
    uint64_t strangers = 0;          // those that were closed before they had
    uint64_t refused = 0;            // clients over the limit
    uint64_t broken = 0;             // clients closed for requests that make no sense
    uint64_t over_memory = 0;        // clients closed for want of memory
    uint64_t requests = 0;           // calls served
    uint64_t connected_clients = 0;  // now
};

class TcpStoreServer {
  public:
    /// Listens and starts the thread; port 0 takes any free one. Warns where others than
    /// this machine can reach an address that no cookie guards. Throws Error for an
    /// address that is busy or not ours.
    TcpStoreServer(const Address& address, const Cookie& cookie, StoreLimits limits = {});

    /// Closes all connections; clients that wait get PeerLost.
    ~TcpStoreServer();
    TcpStoreServer(const TcpStoreServer&) = delete;
    TcpStoreServer& operator=(const TcpStoreServer&) = delete;

    /// Where it listens, with the port it got.
    Address address() const;

    StoreCounters counters() const;

    /// Blocks until all clients have left, so that they have heard what there was to
    /// hear; false when the deadline passed.
    bool wait_until_alone(Deadline deadline);

  private:
    class Loop;
    std::unique_ptr<Loop> loop_;
};

}  // namespace mini::dist
