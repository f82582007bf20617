#include "labs/20-scaling-by-simulation/simulated_step.hpp"

#include <algorithm>

#include "libmini/distributed/backends/transport_backend.hpp"
#include "libmini/extras/simulation/cluster.hpp"
#include "libmini/tensor/ops.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::lab20 {
namespace {

using dist::seconds_of;
using dist::virtual_time;
using dist::VirtualTime;

// The times at which the last rank started and ended the all-reduce of a bucket.
struct LastTimes {
    VirtualTime start{}, end{};
};

// Returns the all-reduces of the buckets. Messages have no payload, so all ranks and all
// buckets use the same buffer.
std::vector<dist::Call> calls_of(const std::vector<StepBucket>& buckets,
                                 dist::Algorithm algorithm) {
    int64_t most = 0;
    for (const StepBucket& bucket : buckets) most = std::max(most, bucket.bytes);
    const auto elements = [](int64_t bytes) {
        return bytes / static_cast<int64_t>(sizeof(float));
    };
    const Tensor buffer = Tensor::zeros({elements(most)});
    std::vector<dist::Call> calls;
    for (const StepBucket& bucket : buckets)
        calls.push_back({.operation = dist::Operation::kAllReduce,
                         .outputs = {ops::narrow(buffer, 0, 0, elements(bucket.bytes))},
                         .algorithm = algorithm});
    return calls;
}

}  // namespace

std::vector<StepBucket> buckets_of(const StepProfile& profile, double cap_mb) {
    std::vector<StepBucket> buckets;
    for (const auto& indices : assign_buckets(profile.gradients, cap_mb)) {
        StepBucket bucket;
        for (const size_t index : indices) {
            bucket.bytes += profile.gradients[index].bytes;
            bucket.ready = std::max(bucket.ready, profile.gradients[index].ready);
        }
        buckets.push_back(bucket);
    }
    return buckets;
}

StepTimes simulate_step(const StepProfile& profile,
                        const std::vector<StepBucket>& buckets,
                        const StepCluster& cluster) {
    dist::ClusterOptions options{.world_size = cluster.ranks, .links = cluster.links};
    options.has_payload = false;
    const auto hosts = dist::hosts_of(cluster.links, cluster.ranks);
    const auto calls = calls_of(buckets, cluster.algorithm);
    const double compute = profile.forward + profile.backward;
    std::vector<LastTimes> last(buckets.size());
    StepTimes times;

    const auto run_rank = [&](dist::SimulatedTransport& transport) {
        for (size_t i = 0; i < buckets.size() && cluster.ranks > 1; ++i) {
            // Compute until the bucket is ready. sleep_until() returns at once if the
            // previous all-reduce ended later.
            const double ready = cluster.overlaps ? buckets[i].ready : profile.backward;
            transport.sleep_until(virtual_time(profile.forward + ready));

            last[i].start = std::max(last[i].start, transport.now());
            const std::string algorithm = dist::run_over(transport, calls[i], hosts);
            last[i].end = std::max(last[i].end, transport.now());
            if (std::ranges::find(times.algorithms, algorithm) == times.algorithms.end())
                times.algorithms.push_back(algorithm);
        }
        transport.sleep_until(virtual_time(compute));
    };
    times.step = seconds_of(dist::run_cluster(options, run_rank).time);
    times.exposed = std::max(0.0, times.step - compute);
    for (const LastTimes& bucket : last)
        times.communication += seconds_of(bucket.end - bucket.start);
    return times;
}

}  // namespace mini::lab20
