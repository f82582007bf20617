// The transport of one simulated rank.

#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "libmini/distributed/simulation/network.hpp"
#include "libmini/distributed/simulation/scheduler.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// The ways between all ranks, which are opened when they are first used.
class Ways {
  public:
    Ways(Network& network, int world_size)
        : network_(network), ways_(static_cast<size_t>(world_size)) {}

    Network& network() { return network_; }

    /// REQUIRES: `from` and `to` are different ranks.
    OneWay& between(int from, int to);

  private:
    Network& network_;
    // By sender, then receiver: in one table the pairs of neighbours would share a bucket.
    std::vector<std::unordered_map<int, OneWay*>> ways_;
};

/// send() returns when the message has left this rank's port. recv() throws Error when the
/// message does not have the size of `in`. REQUIRES of both: called by task `rank`.
class SimulatedTransport : public Transport {
  public:
    /// All references outlive this; `ways` is one for all ranks. Combining takes `combine_per_byte` of virtual time.
    SimulatedTransport(Scheduler& scheduler, Ways& ways, int rank, int world_size,
                       std::chrono::duration<double> combine_per_byte);

    int rank() const override { return rank_; }
    int world_size() const override { return world_size_; }
    void send_recv(int to, std::span<const std::byte> out, int from,
                   std::span<std::byte> in, const Combine& combine = {}) override;
    void send(int to, std::span<const std::byte> out) override;
    void recv(int from, std::span<std::byte> in, const Combine& combine = {}) override;

    /// The virtual time now, and a wait until a later one: what the rank computes between two
    /// messages. Returns at once if `when` has passed. REQUIRES: called by task `rank`.
    VirtualTime now() const { return scheduler_.now(); }
    void sleep_until(VirtualTime when);

    /// "rank 2 receives from rank 1", for a rank that waits.
    std::string waits_for() const;

  private:
    static constexpr int kNone = -1;

    void check_peer(int peer) const;
    OneWay& way_to(int peer);
    OneWay& way_from(int peer);
    void start_send(int to, std::span<const std::byte> out);
    void finish_send(int to);

    Scheduler& scheduler_;
    Ways& ways_;
    Network& network_;
    const int rank_;
    const int world_size_;
    const std::chrono::duration<double> combine_per_byte_;
    int sends_to_ = kNone, receives_from_ = kNone;  // what this rank waits for
};

}  // namespace mini::dist
