#include "labs/20-scaling-by-simulation/all_reduce_on_links.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <vector>

#include "labs/11-collectives/all_reduce_time.hpp"
#include "libmini/core/error.hpp"
#include "libmini/distributed/collectives/elements.hpp"

namespace mini::lab20 {
namespace {

using dist::Algorithm;

double in_seconds(std::chrono::nanoseconds delay) {
    return std::chrono::duration<double>(delay).count();
}

// Returns the bytes of chunk `k`, counted modulo P, of a buffer of `bytes` bytes.
double chunk_bytes(size_t bytes, int P, int k) {
    const size_t n = bytes / sizeof(float), ranks = static_cast<size_t>(P);
    const auto i = static_cast<size_t>((k % P + P) % P);
    const size_t count =
        dist::part_begin(n, i + 1, ranks) - dist::part_begin(n, i, ranks);
    return static_cast<double>(count * sizeof(float));
}

}  // namespace

double seconds_on(const dist::LinkSpec& link, Algorithm algorithm, int P, size_t bytes) {
    return dist::all_reduce_seconds(algorithm, P, bytes, in_seconds(link.delay),
                                    1 / link.bytes_per_second);
}

double ring_seconds(const dist::Links& links, int P, size_t bytes) {
    if (P == 1) return 0;
    std::vector<dist::Route> to_right;
    for (int rank = 0; rank < P; ++rank)
        to_right.push_back(dist::route(links, rank, (rank + 1) % P));

    // In step s, rank r sends chunk r - s to its right neighbour.
    std::vector<double> begin(to_right.size()), next(to_right.size());
    // [lab20.3] Compute step by step when each rank begins its next step.
    for (int step = 0; step < 2 * (P - 1); ++step) {
        std::ranges::fill(next, 0.0);
        for (size_t rank = 0; rank < begin.size(); ++rank) {
            const auto& [out_port, in_port, rate, delay] = to_right[rank];
            const double chunk = chunk_bytes(bytes, P, static_cast<int>(rank) - step);
            const double sent = begin[rank] + chunk / rate;
            double& right = next[(rank + 1) % next.size()];
            next[rank] = std::max(next[rank], sent);
            right = std::max(right, sent + in_seconds(delay));
        }
        std::swap(begin, next);
    }
    // [lab20.3]
    return *std::ranges::max_element(begin);
}

double hosts_seconds(Algorithm algorithm, const dist::Links& links, int P, size_t bytes) {
    const int per_host = std::min(P, links.ranks_per_host);
    const int hosts = (P + links.ranks_per_host - 1) / links.ranks_per_host;
    const bool is_tree = algorithm == Algorithm::kTree;
    const double inside = seconds_on(links.inside, Algorithm::kTree, per_host, bytes);
    const double between = seconds_on(
        links.network, is_tree ? Algorithm::kTree : Algorithm::kRing, hosts, bytes);
    return inside + between;
}

double all_reduce_seconds_on(const dist::Links& links, Algorithm algorithm, int P,
                             size_t bytes) {
    const bool has_slow_ranks = !links.rates.empty();
    if (algorithm == Algorithm::kRing) return ring_seconds(links, P, bytes);
    if (algorithm == Algorithm::kTree || algorithm == Algorithm::kHierarchical) {
        const auto per_host = static_cast<unsigned>(links.ranks_per_host);
        if (!has_slow_ranks &&
            (algorithm != Algorithm::kTree || std::has_single_bit(per_host)))
            return hosts_seconds(algorithm, links, P, bytes);
    } else if (!has_slow_ranks && links.ranks_per_host == 1) {
        return seconds_on(links.network, algorithm, P, bytes);
    }
    throw UsageError("no formula for ", dist::algorithm_name(algorithm),
                     " on these links: simulate it");
}

}  // namespace mini::lab20
