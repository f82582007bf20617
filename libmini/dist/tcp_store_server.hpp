// The keeper of the TCP store: one thread, one poll loop, a dictionary.
//
// It listens on exactly the address it was given, so on loopback nobody outside the
// machine can reach it. A connection must say Hello with the run's cookie within two
// seconds; one that says anything else, or too little, or asks for more than the caps
// allow, is closed, and the others do not notice:
//
//     a flood of connections    the oldest that has not said Hello makes room
//     no descriptors left       strangers are dropped, then accepting pauses
//     too many keys or bytes    the call is refused, with a reason

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "libmini/dist/hello.hpp"
#include "libmini/dist/socket.hpp"

namespace mini::dist {

struct StoreLimits {
    size_t connections = 4096;  // of clients that have said Hello
    size_t strangers = 64;      // connections that have not said it yet
    size_t keys = 1 << 20;
    size_t bytes = 1 << 30;  // of all keys and values
    std::chrono::milliseconds hello_time = std::chrono::seconds(2);
};

/// What a server has seen since it started.
struct StoreCounters {
    uint64_t accepted = 0;           // connections
    uint64_t clients = 0;            // of them, those that said Hello
    uint64_t strangers = 0;          // those that were closed before they had
    uint64_t refused = 0;            // clients over the limit
    uint64_t broken = 0;             // clients closed for requests that make no sense
    uint64_t requests = 0;           // calls served
    uint64_t connected_clients = 0;  // now
};

class TcpStoreServer {
  public:
    /// Listens and starts the thread; port 0 takes any free one. Throws Error for an
    /// address that is busy or not ours.
    TcpStoreServer(const Address& address, const Cookie& cookie, StoreLimits limits = {});

    /// Closes all connections; who waits in them gets PeerLost.
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
