#include "libmini/distributed/group/process_group.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

#include "libmini/tensor/ops.hpp"

namespace mini::dist {
namespace {

// Returns P views of `whole`, one after the other, each with the shape of `part`.
std::vector<Tensor> parts_like(const char* name, const Tensor& whole, const Tensor& part,
                               int P) {
    check_shape(whole.is_contiguous() && whole.numel() == P * part.numel(), name, ": ",
                whole.shape(), whole.is_contiguous() ? "" : ", which is not contiguous,",
                " does not have the elements of ", P, " times ", part.shape());
    std::vector<Tensor> parts;
    for (int64_t r = 0; r < P; ++r)
        parts.push_back(whole.as_strided(part.shape(), contiguous_strides(part.shape()),
                                         whole.offset() + r * part.numel()));
    return parts;
}

// Returns P views of `whole`, with `sizes` indices of the first dimension; equally many if
// `sizes` is empty.
std::vector<Tensor> parts_of(const Tensor& whole, Shape sizes, int P) {
    check_shape(whole.is_contiguous() && whole.dim() > 0,
                "all_to_all_single: ", whole.shape(),
                " is not contiguous, or has no dimension to split");
    if (sizes.empty()) sizes.assign(static_cast<size_t>(P), whole.size(0) / P);
    const int64_t total = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
    check_shape(std::ssize(sizes) == P && total == whole.size(0),
                "all_to_all_single: ", whole.shape(), " cannot be split into ", P,
                " parts of the sizes ", sizes);
    std::vector<Tensor> parts;
    int64_t begin = 0;
    for (const int64_t size : sizes) {
        parts.push_back(ops::narrow(whole, 0, begin, size));
        begin += size;
    }
    return parts;
}

}  // namespace

std::vector<int> ProcessGroup::world_ranks() const {
    std::vector<int> ranks(static_cast<size_t>(world_size()));
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
}

// Waits for the collective `name` that `start` starts. Throws Error if another thread
// waits in this function.
template <typename Start>
void ProcessGroup::wait_alone(const char* name, const Start& start) {
    std::thread::id none;
    MINI_CHECK(waiting_.compare_exchange_strong(none, std::this_thread::get_id()), name,
               ": two threads call blocking operations of one group at the same time, so "
               "the ranks cannot agree on an order; give each thread its own group");
    struct End {
        ~End() { waiting = std::thread::id(); }
        std::atomic<std::thread::id>& waiting;
    } const end{waiting_};
    start()->wait();
}

WorkHandle ProcessGroup::all_reduce_async(Tensor tensor, ReduceOp op,
                                          Algorithm algorithm) {
    return start({.operation = Operation::kAllReduce,
                  .outputs = {std::move(tensor)},
                  .reduce_op = op,
                  .algorithm = algorithm});
}
void ProcessGroup::all_reduce(Tensor tensor, ReduceOp op, Algorithm algorithm) {
    wait_alone("all_reduce",
               [&] { return all_reduce_async(std::move(tensor), op, algorithm); });
}

WorkHandle ProcessGroup::broadcast_async(Tensor tensor, int root) {
    return start({.operation = Operation::kBroadcast,
                  .outputs = {std::move(tensor)},
                  .root = root});
}
void ProcessGroup::broadcast(Tensor tensor, int root) {
    wait_alone("broadcast", [&] { return broadcast_async(tensor, root); });
}

WorkHandle ProcessGroup::reduce_async(Tensor tensor, int root, ReduceOp op) {
    return start({.operation = Operation::kReduce,
                  .outputs = {std::move(tensor)},
                  .reduce_op = op,
                  .root = root});
}
void ProcessGroup::reduce(Tensor tensor, int root, ReduceOp op) {
    wait_alone("reduce", [&] { return reduce_async(tensor, root, op); });
}

WorkHandle ProcessGroup::all_gather_async(std::vector<Tensor> outputs, Tensor input) {
    return start({.operation = Operation::kAllGather,
                  .outputs = std::move(outputs),
                  .inputs = {std::move(input)}});
}
void ProcessGroup::all_gather(std::vector<Tensor> outputs, Tensor input) {
    wait_alone("all_gather", [&] { return all_gather_async(outputs, input); });
}

WorkHandle ProcessGroup::gather_async(std::vector<Tensor> outputs, Tensor input,
                                      int root) {
    return start({.operation = Operation::kGather,
                  .outputs = std::move(outputs),
                  .inputs = {std::move(input)},
                  .root = root});
}
void ProcessGroup::gather(std::vector<Tensor> outputs, Tensor input, int root) {
    wait_alone("gather", [&] { return gather_async(outputs, input, root); });
}

WorkHandle ProcessGroup::scatter_async(Tensor output, std::vector<Tensor> inputs,
                                       int root) {
    return start({.operation = Operation::kScatter,
                  .outputs = {std::move(output)},
                  .inputs = std::move(inputs),
                  .root = root});
}
void ProcessGroup::scatter(Tensor output, std::vector<Tensor> inputs, int root) {
    wait_alone("scatter", [&] { return scatter_async(output, inputs, root); });
}

WorkHandle ProcessGroup::reduce_scatter_async(Tensor output, std::vector<Tensor> inputs,
                                              ReduceOp op) {
    return start({.operation = Operation::kReduceScatter,
                  .outputs = {std::move(output)},
                  .inputs = std::move(inputs),
                  .reduce_op = op});
}
void ProcessGroup::reduce_scatter(Tensor output, std::vector<Tensor> inputs,
                                  ReduceOp op) {
    wait_alone("reduce_scatter",
               [&] { return reduce_scatter_async(output, inputs, op); });
}

WorkHandle ProcessGroup::all_to_all_async(std::vector<Tensor> outputs,
                                          std::vector<Tensor> inputs) {
    return start({.operation = Operation::kAllToAll,
                  .outputs = std::move(outputs),
                  .inputs = std::move(inputs)});
}
void ProcessGroup::all_to_all(std::vector<Tensor> outputs, std::vector<Tensor> inputs) {
    wait_alone("all_to_all", [&] { return all_to_all_async(outputs, inputs); });
}

WorkHandle ProcessGroup::all_gather_into_tensor_async(Tensor output, Tensor input) {
    return all_gather_async(
        parts_like("all_gather_into_tensor", output, input, world_size()), input);
}
void ProcessGroup::all_gather_into_tensor(Tensor output, Tensor input) {
    wait_alone("all_gather_into_tensor",
               [&] { return all_gather_into_tensor_async(output, input); });
}

WorkHandle ProcessGroup::reduce_scatter_tensor_async(Tensor output, Tensor input,
                                                     ReduceOp op) {
    return reduce_scatter_async(
        output, parts_like("reduce_scatter_tensor", input, output, world_size()), op);
}
void ProcessGroup::reduce_scatter_tensor(Tensor output, Tensor input, ReduceOp op) {
    wait_alone("reduce_scatter_tensor",
               [&] { return reduce_scatter_tensor_async(output, input, op); });
}

WorkHandle ProcessGroup::all_to_all_single_async(Tensor output, Tensor input,
                                                 Shape output_split_sizes,
                                                 Shape input_split_sizes) {
    const bool is_uneven = !output_split_sizes.empty() || !input_split_sizes.empty();
    return start(
        {.operation = Operation::kAllToAll,
         .outputs = parts_of(output, std::move(output_split_sizes), world_size()),
         .inputs = parts_of(input, std::move(input_split_sizes), world_size()),
         .is_uneven = is_uneven});
}
void ProcessGroup::all_to_all_single(Tensor output, Tensor input,
                                     Shape output_split_sizes, Shape input_split_sizes) {
    wait_alone("all_to_all_single", [&] {
        return all_to_all_single_async(output, input, output_split_sizes,
                                       input_split_sizes);
    });
}

WorkHandle ProcessGroup::barrier_async() {
    return start({.operation = Operation::kBarrier});
}
void ProcessGroup::barrier() {
    wait_alone("barrier", [&] { return barrier_async(); });
}

WorkHandle ProcessGroup::send_async(Tensor tensor, int peer, uint64_t tag) {
    return start({.operation = Operation::kSend,
                  .inputs = {std::move(tensor)},
                  .peer = peer,
                  .tag = tag});
}
void ProcessGroup::send(Tensor tensor, int peer, uint64_t tag) {
    send_async(std::move(tensor), peer, tag)->wait();
}

WorkHandle ProcessGroup::recv_async(Tensor tensor, int peer, uint64_t tag) {
    return start({.operation = Operation::kRecv,
                  .outputs = {std::move(tensor)},
                  .peer = peer,
                  .tag = tag});
}
int ProcessGroup::recv(Tensor tensor, int peer, uint64_t tag) {
    const WorkHandle work = recv_async(std::move(tensor), peer, tag);
    work->wait();
    return work->source_rank();
}

std::vector<int> get_process_group_ranks(const ProcessGroup& group) {
    return group.world_ranks();
}

int get_global_rank(const ProcessGroup& group, int group_rank) {
    if (group_rank < 0 || group_rank >= group.world_size())
        throw UsageError("get_global_rank: ", group.name(), " has the ranks 0 to ",
                         group.world_size() - 1, ", but not rank ", group_rank);
    return group.world_ranks()[static_cast<size_t>(group_rank)];
}

int get_group_rank(const ProcessGroup& group, int global_rank) {
    const std::vector<int> ranks = group.world_ranks();
    const auto found = std::ranges::find(ranks, global_rank);
    if (found == ranks.end())
        throw UsageError("get_group_rank: ", group.name(), " has the ranks ", ranks,
                         " of the job, but not rank ", global_rank);
    return static_cast<int>(found - ranks.begin());
}

}  // namespace mini::dist
