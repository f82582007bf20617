// The simulated cluster: many ranks in one thread, connected by links with a delay and a
// rate, in virtual time. The algorithms of collectives/ run on it unchanged, since they
// need only a Transport.
//
//     ring_all_reduce ...      the real code, on each rank
//     SimulatedTransport       send, recv, send_recv
//     Network                  messages, ports, virtual times
//     Scheduler                ranks as fibers, events in the order of their time
//
// Virtual time passes on links, and in sleep_until(), which stands for a rank's
// computation. A laptop can therefore measure the cost of a collective on a thousand
// ranks: messages, bytes, and time at the links' rates and delays. Like SMPI (Degomme et
// al., "Simulating MPI applications: the SMPI approach", 2017), but the simulated programs
// are our own collectives.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "libmini/distributed/transport/transport.hpp"
#include "libmini/extras/simulation/network.hpp"
#include "libmini/extras/simulation/scheduler.hpp"

namespace mini::dist {

/// The transport of one rank. send() blocks until the message has left this rank's port.
/// recv() blocks until a message has arrived, and throws Error if the message does not
/// have the size of `in`. REQUIRES: task `rank` calls them.
class SimulatedTransport : public Transport {
  public:
    /// REQUIRES: the references outlive this object.
    SimulatedTransport(Scheduler& scheduler, Network& network, int rank, int world_size);

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
    void sleep_until(VirtualTime when) { scheduler_.sleep_until(when); }

    /// Returns what a blocked rank waits for, like "rank 2 receives from rank 1".
    std::string waits_for() const;

  private:
    static constexpr int kNone = -1;

    void check_peer(int peer) const;
    void finish_send(int to);

    Scheduler& scheduler_;
    Network& network_;
    const int rank_;
    const int world_size_;
    int sends_to_ = kNone, receives_from_ = kNone;  // peers that this rank waits for
};

struct ClusterOptions {
    int world_size = 2;
    Links links;
    uint64_t seed = 0;  // decides the order of ranks that are ready at the same time

    /// Whether messages carry their bytes. If false, only times and counts are right:
    /// receives write no data, so all ranks may share one buffer.
    bool has_payload = true;
};

/// The result of a run.
struct ClusterReport {
    VirtualTime time{};            // when the last rank returned
    std::vector<VirtualTime> end;  // when each rank returned
    std::vector<Traffic> sent;     // by rank
    size_t messages_left = 0;      // messages sent but never received
};

/// Runs `body` on every rank; blocks until `body` has returned on all ranks. The
/// transport is valid while `body` runs; it is not a GroupTransport, since no wait has a
/// deadline and no rank dies. Rethrows the first exception of a rank. Throws Error if the
/// ranks deadlock, with a list of what each rank waits for; UsageError if the world size
/// is below 1.
ClusterReport run_cluster(const ClusterOptions& options,
                          const std::function<void(SimulatedTransport&)>& body);

}  // namespace mini::dist
