// The keeper of the TCP store: one thread, one poll loop, a dictionary.
//
// It listens on exactly the address it was given, so on loopback nobody outside the
// machine can reach it. A connection must say Hello with the run's cookie within two
// seconds; one that says anything else, or too little, or asks for more than the caps
// allow, is closed, and the others do not notice.

#pragma once

#include <memory>

#include "libmini/dist/hello.hpp"
#include "libmini/dist/socket.hpp"

namespace mini::dist {

struct StoreLimits {
    size_t connections = 4096;
    std::chrono::milliseconds hello_time = std::chrono::seconds(2);
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

  private:
    class Loop;
    std::unique_ptr<Loop> loop_;
};

}  // namespace mini::dist
