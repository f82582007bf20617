#include "libmini/distributed/net/deadline.hpp"

#include <cstdint>
#include <vector>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/distributed/transport/tags.hpp"

namespace mini::dist {
namespace {

Call point_call(Operation operation, int peer, uint64_t tag,
                std::chrono::milliseconds timeout) {
    Call call{.operation = operation, .peer = peer, .tag = tag, .timeout = timeout};
    const Tensor token = Tensor::zeros({1}, DType::kUInt8, Device::cpu());
    (operation == Operation::kSend ? call.inputs : call.outputs).push_back(token);
    return call;
}

// Returns the ranks whose messages did not arrive: all of them, or only the lowest rank.
std::vector<int> missing_ranks(const std::vector<WorkHandle>& arrivals, bool all) {
    std::vector<int> missing;
    for (size_t i = 0; i < arrivals.size() && (all || missing.empty()); ++i) {
        try {
            arrivals[i]->wait();
        } catch (const Timeout&) {
            missing.push_back(static_cast<int>(i) + 1);
        }
    }
    return missing;
}

}  // namespace

void monitored_barrier(ProcessGroup& group, MonitoredBarrierOptions options) {
    const auto timeout = options.timeout;
    if (group.rank() != 0) {
        group.start(point_call(Operation::kSend, 0, kArrivedTag, timeout))->wait();
        // Rank 0 may wait for the other ranks for `timeout` before it replies.
        group.start(point_call(Operation::kRecv, 0, kReleasedTag, 2 * timeout))->wait();
        return;
    }

    // Wait for all other ranks, and name the missing ranks.
    std::vector<WorkHandle> arrivals;
    for (int rank = 1; rank < group.world_size(); ++rank)
        arrivals.push_back(
            group.start(point_call(Operation::kRecv, rank, kArrivedTag, timeout)));
    const std::vector<int> missing = missing_ranks(arrivals, options.wait_all_ranks);
    if (!missing.empty()) {
        std::string names;
        for (const int rank : missing) names += concat(names.empty() ? "" : ", ", rank);
        throw Timeout(concat("monitored_barrier: rank ", names, " did not reach it in ",
                             seconds_text(timeout),
                             options.wait_all_ranks
                                 ? ""
                                 : "; wait_all_ranks = true names all missing ranks"));
    }
    for (int rank = 1; rank < group.world_size(); ++rank)
        group.start(point_call(Operation::kSend, rank, kReleasedTag, timeout))->wait();
}

}  // namespace mini::dist
