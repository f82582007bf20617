// The system of simulated processes: each has its sockets, and a host with an address.
//
//     connect()    a request, one delay later at the listener; the answer, one delay later
//     listen()     at an address of the process's host; port 0 takes a free one
//     accept()     what has been requested
//
// A request that a fault holds up is made again each second, as TCP does. Ports that the
// system chooses are taken from a small range, so that all can happen that happens with the
// kernel's: a process that connects to a port of its own host where nothing listens may get
// this very port for its own end, and is then connected to itself.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libmini/distributed/net/socket.hpp"
#include "libmini/distributed/net/system.hpp"
#include "libmini/distributed/simulation/network.hpp"
#include "libmini/distributed/simulation/simulated_socket.hpp"
#include "libmini/distributed/simulation/simulated_time.hpp"

namespace mini::dist {

/// REQUIRES: called by a task of the scheduler, except where it says so.
class SimulatedSystem final : public System {
  public:
    /// The ports that the system chooses from: the first, and how many.
    static constexpr int kFirstPort = 50000, kPortCount = 64;

    /// `hosts`: for each process its host, counted from 0. The references outlive this.
    SimulatedSystem(Scheduler& scheduler, Network& network, SimulatedTime& time,
                    std::vector<int> hosts, uint64_t seed);
    ~SimulatedSystem();
    SimulatedSystem(const SimulatedSystem&) = delete;
    SimulatedSystem& operator=(const SimulatedSystem&) = delete;

    int listen(const addrinfo& address) override;
    int connect(const addrinfo& address) override;
    int connect_error(int fd) override;
    int accept(int listener) override;
    Address local_address(int fd) override;
    Address peer_address(int fd) override;
    ssize_t send(int fd, std::span<const std::byte> head,
                 std::span<const std::byte> body) override;
    ssize_t recv(int fd, std::span<std::byte> bytes) override;
    void shutdown(int fd, int how) noexcept override;
    void close(int fd) noexcept override;
    int new_event() override;
    void set_event(int fd) noexcept override;
    void clear_event(int fd) noexcept override;
    std::string host_name() override;
    std::string host_id() override { return host_name(); }
    int process_id() override;
    uint64_t random_number() override { return random_(); }

    /// Returns two sockets, of processes `a` and `b`, that are connected. Called by anyone.
    std::pair<Socket, Socket> connect_pair(int a, int b);

    /// Returns the address of the host of a process, "10.0.0.1" for host 0. Called by anyone.
    std::string address_of(int process) const;

    /// How many sockets and events are open. Called by anyone.
    size_t open_count() const { return files_.size(); }

    // Faults. Called by anyone.

    /// The kernel of a process that died closes its sockets.
    void kill(int process, Loss loss);

    /// The connections between two processes break.
    void cut(int a, int b);

    /// The next send or receive of the process throws std::bad_alloc.
    void fail_allocation(int process) { out_of_memory_.insert(process); }

  private:
    struct Request;
    using Handshake = std::shared_ptr<Request>;

    template <typename File>
    File* find(int fd) const;
    int add(std::unique_ptr<SimulatedFile> file);
    int free_port(const std::string& host);
    bool is_taken(const Address& address) const;
    SimulatedListener* listener_at(const Address& address) const;
    int process_at(const Address& address, int otherwise) const;
    void request(const Handshake& handshake);
    void travel(int from, int to, std::function<void(bool has_arrived)> done);
    void arrive(const Handshake& handshake);
    void answer(const Handshake& handshake);
    void finish(const Request& request);
    SimulatedConnection* client_of(const Request& request) const;
    void check_memory();

    Scheduler& scheduler_;
    Network& network_;
    SimulatedTime& time_;
    const std::vector<int> hosts_;
    std::mt19937_64 random_;
    std::map<int, std::unique_ptr<SimulatedFile>> files_;
    std::set<int> out_of_memory_;  // processes
};

}  // namespace mini::dist
