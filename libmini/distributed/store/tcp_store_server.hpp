// The server of the TCP store: one thread, one poll loop, a dictionary.
//
// The server listens only on the given address, so on loopback no other machine can reach
// the server. The server closes a connection that sends no Hello with the run's cookie in
// time, or sends an invalid request; other connections are not affected. If too many
// connections have sent no Hello yet, or no descriptors are left, the server closes the
// oldest connection without a Hello.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "libmini/distributed/net/event.hpp"
#include "libmini/distributed/net/hello.hpp"
#include "libmini/distributed/net/socket.hpp"
#include "libmini/distributed/net/system.hpp"
#include "libmini/distributed/store/store_service.hpp"

namespace mini::dist {

/// Counts since the server started; any thread may read them.
struct StoreCounters {
    std::atomic<uint64_t> clients = 0;            // connections that sent a valid Hello
    std::atomic<uint64_t> connected_clients = 0;  // clients that are connected now
    std::atomic<uint64_t> dropped = 0;   // connections closed before a valid Hello
    std::atomic<uint64_t> requests = 0;  // of all clients, ended ones too
};

class TcpStoreServer {
  public:
    /// Listens and starts the thread; port 0 takes any free port. Logs a warning if other
    /// machines can reach the address and there is no cookie. Throws Error if the address
    /// is in use or does not belong to this machine.
    TcpStoreServer(const Address& address, const Cookie& cookie,
                   std::chrono::milliseconds hello_time = std::chrono::seconds(2));

    /// Closes all connections; the waiting calls of clients throw PeerLost.
    ~TcpStoreServer();
    TcpStoreServer(const TcpStoreServer&) = delete;
    TcpStoreServer& operator=(const TcpStoreServer&) = delete;

    /// Returns the address on which the server listens, with the actual port.
    Address address() const { return local_address(listener_); }

    const StoreCounters& counters() const { return counters_; }

    /// Blocks until all clients have disconnected; each client then has its last reply.
    /// Returns false if the deadline passes first.
    bool wait_until_alone(Deadline deadline);

  private:
    struct Client;

    void run();
    void accept_client();
    bool drop_oldest();
    void serve(Client& client, short events);
    void read_from(Client& client);
    bool greet(Client& client);
    static void reply(StoreClient& client, uint32_t id, protocol::Status status,
                      const std::string& value);
    void remove_dropped();

    const Cookie cookie_;
    const std::chrono::milliseconds hello_time_;
    const Socket listener_;
    Event stop_;
    std::list<Client> clients_;
    StoreService service_{reply};
    StoreCounters counters_;
    std::function<void()> join_thread_;
};

}  // namespace mini::dist
