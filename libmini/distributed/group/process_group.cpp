#include "libmini/distributed/group/process_group.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

namespace mini::dist {
namespace {

Call all_reduce_call(Tensor tensor, ReduceOp op, Algorithm algorithm) {
    return {.operation = Operation::kAllReduce,
            .outputs = {std::move(tensor)},
            .reduce_op = op,
            .algorithm = algorithm};
}

Call broadcast_call(Tensor tensor, int root) {
    return {
        .operation = Operation::kBroadcast, .outputs = {std::move(tensor)}, .root = root};
}

Call reduce_call(Tensor tensor, int root, ReduceOp op) {
    return {.operation = Operation::kReduce,
            .outputs = {std::move(tensor)},
            .reduce_op = op,
            .root = root};
}

Call all_gather_call(std::vector<Tensor> outputs, Tensor input) {
    return {.operation = Operation::kAllGather,
            .outputs = std::move(outputs),
            .inputs = {std::move(input)}};
}

Call gather_call(std::vector<Tensor> outputs, Tensor input, int root) {
    return {.operation = Operation::kGather,
            .outputs = std::move(outputs),
            .inputs = {std::move(input)},
            .root = root};
}

Call scatter_call(Tensor output, std::vector<Tensor> inputs, int root) {
    return {.operation = Operation::kScatter,
            .outputs = {std::move(output)},
            .inputs = std::move(inputs),
            .root = root};
}

Call reduce_scatter_call(Tensor output, std::vector<Tensor> inputs, ReduceOp op) {
    return {.operation = Operation::kReduceScatter,
            .outputs = {std::move(output)},
            .inputs = std::move(inputs),
            .reduce_op = op};
}

Call all_to_all_call(std::vector<Tensor> outputs, std::vector<Tensor> inputs) {
    return {.operation = Operation::kAllToAll,
            .outputs = std::move(outputs),
            .inputs = std::move(inputs)};
}

Call send_call(Tensor tensor, int peer, uint64_t tag) {
    return {.operation = Operation::kSend,
            .inputs = {std::move(tensor)},
            .peer = peer,
            .tag = tag};
}

Call recv_call(Tensor tensor, int peer, uint64_t tag) {
    return {.operation = Operation::kRecv,
            .outputs = {std::move(tensor)},
            .peer = peer,
            .tag = tag};
}

// Starts a blocking call and waits for it.
WorkHandle finish(ProcessGroup& group, Call call) {
    call.blocking = true;
    const WorkHandle work = group.start(std::move(call));
    work->wait();
    return work;
}

}  // namespace

std::vector<int> ProcessGroup::world_ranks() const {
    std::vector<int> ranks(static_cast<size_t>(world_size()));
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
}

WorkHandle ProcessGroup::all_reduce_async(Tensor tensor, ReduceOp op,
                                          Algorithm algorithm) {
    return start(all_reduce_call(std::move(tensor), op, algorithm));
}
void ProcessGroup::all_reduce(Tensor tensor, ReduceOp op, Algorithm algorithm) {
    finish(*this, all_reduce_call(std::move(tensor), op, algorithm));
}

WorkHandle ProcessGroup::broadcast_async(Tensor tensor, int root) {
    return start(broadcast_call(std::move(tensor), root));
}
void ProcessGroup::broadcast(Tensor tensor, int root) {
    finish(*this, broadcast_call(std::move(tensor), root));
}

WorkHandle ProcessGroup::reduce_async(Tensor tensor, int root, ReduceOp op) {
    return start(reduce_call(std::move(tensor), root, op));
}
void ProcessGroup::reduce(Tensor tensor, int root, ReduceOp op) {
    finish(*this, reduce_call(std::move(tensor), root, op));
}

WorkHandle ProcessGroup::all_gather_async(std::vector<Tensor> outputs, Tensor input) {
    return start(all_gather_call(std::move(outputs), std::move(input)));
}
void ProcessGroup::all_gather(std::vector<Tensor> outputs, Tensor input) {
    finish(*this, all_gather_call(std::move(outputs), std::move(input)));
}

WorkHandle ProcessGroup::gather_async(std::vector<Tensor> outputs, Tensor input,
                                      int root) {
    return start(gather_call(std::move(outputs), std::move(input), root));
}
void ProcessGroup::gather(std::vector<Tensor> outputs, Tensor input, int root) {
    finish(*this, gather_call(std::move(outputs), std::move(input), root));
}

WorkHandle ProcessGroup::scatter_async(Tensor output, std::vector<Tensor> inputs,
                                       int root) {
    return start(scatter_call(std::move(output), std::move(inputs), root));
}
void ProcessGroup::scatter(Tensor output, std::vector<Tensor> inputs, int root) {
    finish(*this, scatter_call(std::move(output), std::move(inputs), root));
}

WorkHandle ProcessGroup::reduce_scatter_async(Tensor output, std::vector<Tensor> inputs,
                                              ReduceOp op) {
    return start(reduce_scatter_call(std::move(output), std::move(inputs), op));
}
void ProcessGroup::reduce_scatter(Tensor output, std::vector<Tensor> inputs,
                                  ReduceOp op) {
    finish(*this, reduce_scatter_call(std::move(output), std::move(inputs), op));
}

WorkHandle ProcessGroup::all_to_all_async(std::vector<Tensor> outputs,
                                          std::vector<Tensor> inputs) {
    return start(all_to_all_call(std::move(outputs), std::move(inputs)));
}
void ProcessGroup::all_to_all(std::vector<Tensor> outputs, std::vector<Tensor> inputs) {
    finish(*this, all_to_all_call(std::move(outputs), std::move(inputs)));
}

WorkHandle ProcessGroup::barrier_async() {
    return start({.operation = Operation::kBarrier});
}
void ProcessGroup::barrier() { finish(*this, {.operation = Operation::kBarrier}); }

WorkHandle ProcessGroup::send_async(Tensor tensor, int peer, uint64_t tag) {
    return start(send_call(std::move(tensor), peer, tag));
}
void ProcessGroup::send(Tensor tensor, int peer, uint64_t tag) {
    finish(*this, send_call(std::move(tensor), peer, tag));
}

WorkHandle ProcessGroup::recv_async(Tensor tensor, int peer, uint64_t tag) {
    return start(recv_call(std::move(tensor), peer, tag));
}
int ProcessGroup::recv(Tensor tensor, int peer, uint64_t tag) {
    return finish(*this, recv_call(std::move(tensor), peer, tag))->source_rank();
}

std::vector<int> get_process_group_ranks(const ProcessGroup& group) {
    return group.world_ranks();
}

int get_global_rank(const ProcessGroup& group, int group_rank) {
    if (group_rank < 0 || group_rank >= group.world_size())
        throw UsageError(concat("get_global_rank: ", group.name(), " has the ranks 0 to ",
                                group.world_size() - 1, ", but not rank ", group_rank));
    return group.world_ranks()[static_cast<size_t>(group_rank)];
}

int get_group_rank(const ProcessGroup& group, int global_rank) {
    const std::vector<int> ranks = group.world_ranks();
    const auto found = std::ranges::find(ranks, global_rank);
    if (found == ranks.end())
        throw UsageError(concat("get_group_rank: ", group.name(), " has the ranks ",
                                ranks, " of the job, but not rank ", global_rank));
    return static_cast<int>(found - ranks.begin());
}

std::vector<WorkHandle> batch_isend_irecv(ProcessGroup& group,
                                          const std::vector<PointOperation>& operations) {
    std::vector<WorkHandle> works;
    for (const PointOperation& point : operations)
        works.push_back(point.operation == Operation::kSend
                            ? group.send_async(point.tensor, point.peer, point.tag)
                            : group.recv_async(point.tensor, point.peer, point.tag));
    return works;
}

}  // namespace mini::dist
