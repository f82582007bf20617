#include "libmini/parallel/replicated_module.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "libmini/autograd/node.hpp"
#include "libmini/dist/default_group.hpp"
#include "libmini/dist/gather.hpp"
#include "libmini/parallel/broadcast_coalesced.hpp"

namespace mini::parallel {
namespace {

constexpr size_t kMostDims = 7;
constexpr size_t kRow =
    kMostDims + 1;  // numbers that describe one shape: dimensions, sizes

nn::NamedTensors trainable_parameters(const nn::Module& module) {
    nn::NamedTensors parameters = module.named_parameters();
    std::erase_if(parameters,
                  [](const auto& entry) { return !entry.second.requires_grad(); });
    if (parameters.empty())
        throw UsageError(
            "DistributedDataParallel: no parameter of the module requires grad");
    return parameters;
}

std::vector<int64_t> describe_shape(const Shape& shape) {
    MINI_CHECK(shape.size() <= kMostDims,
               "DistributedDataParallel: a parameter of shape ", shape, " has more than ",
               kMostDims, " dimensions");
    std::vector<int64_t> row(kRow);
    row[0] = static_cast<int64_t>(shape.size());
    std::ranges::copy(shape, row.begin() + 1);
    return row;
}

Shape shape_of_row(const std::vector<int64_t>& rows, size_t parameter) {
    const auto row = rows.begin() + static_cast<int64_t>(parameter * kRow);
    return Shape(row + 1, row + 1 + *row);
}

// All ranks see the description of all ranks, so all of them throw, and the same.
void check_same_parameters(dist::ProcessGroup& group,
                           const nn::NamedTensors& parameters) {
    const std::vector<int64_t> count{static_cast<int64_t>(parameters.size())};
    const auto counts = dist::all_gather_values(group, count);
    for (size_t rank = 1; rank < counts.size(); ++rank)
        MINI_CHECK(counts[rank] == counts[0], "DistributedDataParallel: rank 0 has ",
                   counts[0][0], " parameters that require grad, but rank ", rank,
                   " has ", counts[rank][0], "; every rank must build the same module");

    std::vector<int64_t> mine;
    for (const auto& [name, parameter] : parameters)
        std::ranges::copy(describe_shape(parameter.shape()), std::back_inserter(mine));
    const auto rows = dist::all_gather_values(group, mine);
    for (size_t rank = 1; rank < rows.size(); ++rank)
        for (size_t i = 0; i < parameters.size(); ++i)
            MINI_CHECK(shape_of_row(rows[rank], i) == shape_of_row(rows[0], i),
                       "DistributedDataParallel: parameter ", i, " (here ",
                       parameters[i].first, ") is ", shape_of_row(rows[0], i),
                       " on rank 0, but ", shape_of_row(rows[rank], i), " on rank ",
                       rank);
}

}  // namespace

ReplicatedModule::ReplicatedModule(nn::Module& module,
                                   std::shared_ptr<dist::ProcessGroup> group,
                                   bool broadcast_buffers)
    : module_(module),
      group_(group ? std::move(group) : dist::default_group()),
      trained_(trainable_parameters(module)),
      sends_buffers_(broadcast_buffers && !module.buffers().empty()) {
    register_module("module", module);
    check_same_parameters(*group_, trained_);
    broadcast_coalesced(*group_, state(), 0);
}

ReplicatedModule::NoSync ReplicatedModule::no_sync() {
    // [lab16.6] Switch averaging off, and at the end back to what it was.
    const bool previous = std::exchange(sync_, false);
    return NoSync([this, previous] { sync_ = previous; });
    // [lab16.6]
}

Tensor ReplicatedModule::forward(const Tensor& x) {
    if (!is_grad_enabled()) return module_(x);
    const bool sends_buffers = sends_buffers_ && std::exchange(are_buffers_due_, sync_);
    const int root = begin_iteration(sends_buffers, sync_);
    if (sends_buffers) broadcast_buffers(root);
    if (sync_) prepare_for_forward();
    group_->events().record(EventKind::kForwardBegin);
    Tensor output = module_(x);
    group_->events().record(EventKind::kForwardEnd);
    if (sync_) prepare_for_backward(output);
    return output;
}

void ReplicatedModule::broadcast_buffers(int root) {
    broadcast_coalesced(*group_, module_.buffers(), root);
}

std::vector<Tensor> ReplicatedModule::state() const {
    std::vector<Tensor> state = module_.parameters();
    std::ranges::copy(module_.buffers(), std::back_inserter(state));
    return state;
}

}  // namespace mini::parallel
