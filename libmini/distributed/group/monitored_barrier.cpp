#include "libmini/distributed/net/clock.hpp"

#include <cstdint>
#include <vector>

#include "libmini/distributed/group/group_identity.hpp"
#include "libmini/distributed/group/process_group.hpp"
#include "libmini/distributed/transport/tags.hpp"

namespace mini::dist {
namespace {

// Returns a call that sends an empty token to rank `peer`, or receives it from there.
Call point_call(Operation operation, int peer, uint64_t tag,
                std::chrono::milliseconds timeout) {
    Call call{.operation = operation, .peer = peer, .tag = tag, .timeout = timeout};
    const Tensor token = Tensor::zeros({1}, DType::kUInt8, Device::cpu());
    (operation == Operation::kSend ? call.inputs : call.outputs).push_back(token);
    return call;
}

// What every other rank does: tells rank 0 that it has arrived, and waits until rank 0
// releases it.
void arrive(ProcessGroup& group, std::chrono::milliseconds timeout) {
    // [lab17.2] Arrive, and wait to be released.
    group.start(point_call(Operation::kSend, 0, kArrivedTag, timeout))->wait();
    // Rank 0 may wait for the other ranks for `timeout` before it replies.
    group.start(point_call(Operation::kRecv, 0, kReleasedTag, 2 * timeout))->wait();
    // [lab17.2]
}

// Waits on rank 0 until all other ranks have arrived, for `timeout` in all. Returns the
// ranks that did not arrive, in ascending order: all of them, or with `all` false only
// the lowest one. An error that is not a Timeout is thrown: it names its rank already.
std::vector<int> missing_ranks(ProcessGroup& group, std::chrono::milliseconds timeout,
                               bool all) {
    std::vector<int> missing;
    // [lab17.2] Wait for all ranks at the same time, and collect the missing ranks.
    std::vector<WorkHandle> arrivals;
    for (int rank = 1; rank < group.world_size(); ++rank)
        arrivals.push_back(
            group.start(point_call(Operation::kRecv, rank, kArrivedTag, timeout)));
    for (size_t i = 0; i < arrivals.size() && (all || missing.empty()); ++i) {
        try {
            arrivals[i]->wait();
        } catch (const Timeout&) {
            missing.push_back(static_cast<int>(i) + 1);
        }
    }
    // [lab17.2]
    return missing;
}

[[noreturn]] void throw_missing(const ProcessGroup& group,
                                const std::vector<int>& missing,
                                const MonitoredBarrierOptions& options) {
    std::string names;
    for (const int rank : missing) names += concat(names.empty() ? "" : ", ", rank);
    throw Timeout(concat(
        "monitored_barrier: rank ", names, " did not reach it in ",
        seconds_text(options.timeout),
        options.wait_all_ranks ? "" : "; wait_all_ranks = true names all missing ranks",
        GroupIdentity{group.name(), group.world_ranks()}.note()));
}

}  // namespace

void monitored_barrier(ProcessGroup& group, MonitoredBarrierOptions options) {
    const auto timeout = options.timeout;
    if (group.rank() != 0) return arrive(group, timeout);
    const std::vector<int> missing =
        missing_ranks(group, timeout, options.wait_all_ranks);
    if (!missing.empty()) throw_missing(group, missing, options);
    for (int rank = 1; rank < group.world_size(); ++rank)
        group.start(point_call(Operation::kSend, rank, kReleasedTag, timeout))->wait();
}

}  // namespace mini::dist
