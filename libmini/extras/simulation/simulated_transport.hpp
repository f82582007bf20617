// The transport of one simulated rank.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "libmini/distributed/transport/transport.hpp"
#include "libmini/extras/simulation/network.hpp"
#include "libmini/extras/simulation/scheduler.hpp"

namespace mini::dist {

/// The directions between all pairs of ranks; each is opened on first use.
class Ways {
  public:
    Ways(Network& network, int world_size)
        : network_(network), ways_(static_cast<size_t>(world_size)) {}

    Network& network() { return network_; }

    /// Returns the direction from rank `from` to rank `to`. REQUIRES: they are different
    /// ranks.
    OneWay& between(int from, int to);

  private:
    Network& network_;
    // By sender, then by receiver: in a single hash table of pairs, all pairs of
    // neighbours in a ring could share one bucket.
    std::vector<std::unordered_map<int, OneWay*>> ways_;
};

/// send() blocks until the message has left this rank's port. recv() blocks until a
/// message has arrived, and throws Error if the message does not have the size of `in`.
/// REQUIRES: task `rank` calls them.
class SimulatedTransport : public Transport {
  public:
    /// All ranks share `ways`. REQUIRES: the references outlive this object.
    SimulatedTransport(Scheduler& scheduler, Ways& ways, int rank, int world_size);

    int rank() const override { return rank_; }
    int world_size() const override { return world_size_; }
    void send_recv(int to, std::span<const std::byte> out, int from,
                   std::span<std::byte> in, const Combine& combine = {}) override;
    void send(int to, std::span<const std::byte> out) override;
    void recv(int from, std::span<std::byte> in, const Combine& combine = {}) override;

    /// Returns the current virtual time.
    VirtualTime now() const { return scheduler_.now(); }

    /// Blocks until virtual time `when`, as if the rank computed until then. Returns at
    /// once if `when` has passed. REQUIRES: called by task `rank`.
    void sleep_until(VirtualTime when);

    /// Returns what a blocked rank waits for, like "rank 2 receives from rank 1".
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
    int sends_to_ = kNone, receives_from_ = kNone;  // peers that this rank waits for
};

}  // namespace mini::dist
