#include "libmini/parallel/zero.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "libmini/distributed/group/current_group.hpp"
#include "libmini/parallel/bucket.hpp"
#include "libmini/parallel/same_parameters.hpp"
#include "libmini/parallel/zero_state.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::parallel {
namespace {

NamedTensors without_names(const std::vector<Tensor>& tensors) {
    NamedTensors named;
    for (const Tensor& tensor : tensors) named.emplace_back("", tensor);
    return named;
}

void check_dtypes(const std::vector<Tensor>& parameters) {
    for (size_t i = 0; i < parameters.size(); ++i)
        if (parameters[i].dtype() != DType::kFloat32)
            throw UsageError(concat("ZeroRedundancyOptimizer: parameter ", i, " is ",
                                    parameters[i].dtype(), ", not float32"));
}

std::vector<int64_t> sizes_of(const std::vector<Tensor>& parameters) {
    std::vector<int64_t> sizes;
    for (const Tensor& parameter : parameters) sizes.push_back(parameter.numel());
    return sizes;
}

// The new values of one owner's parameters, in one buffer, during their broadcast. A
// Bucket's views are called gradients; here they hold parameters.
struct Shard {
    Bucket values;
    dist::WorkHandle work;
};

// Returns handles of the same values that do not require grad: no change is recorded. (A
// NoGradGuard would end on another simulated rank's time: simulated ranks share a thread.)
std::vector<Tensor> detached(const std::vector<Tensor>& tensors) {
    std::vector<Tensor> handles;
    for (const Tensor& tensor : tensors) handles.push_back(tensor.detach());
    return handles;
}

// Starts the broadcast of the parameters with these indices from `owner`; does not block.
// Returns std::nullopt if there are no elements to send.
std::optional<Shard> start_broadcast(dist::ProcessGroup& group, int owner,
                                     const std::vector<size_t>& indices,
                                     const std::vector<Tensor>& parameters) {
    if (indices.empty()) return std::nullopt;
    Shard shard{.values = Bucket(indices, parameters), .work = nullptr};
    if (shard.values.bytes() == 0) return std::nullopt;

    // [lab19.2] On the owner, copy its parameters to the buffer; broadcast the buffer.
    if (group.rank() == owner)
        for (size_t slot = 0; slot < indices.size(); ++slot)
            shard.values.copy_gradient(slot, parameters[indices[slot]], 1.0f);
    shard.work = group.broadcast_async(shard.values.buffer(), owner);
    // [lab19.2]
    return shard;
}

// Waits for the broadcast, and copies the values to the parameters.
void finish_broadcast(const std::optional<Shard>& shard,
                      const std::vector<Tensor>& parameters) {
    if (!shard) return;
    // [lab19.2] Wait, then copy each view to its parameter.
    shard->work->wait();
    const std::vector<size_t>& indices = shard->values.indices();
    for (size_t slot = 0; slot < indices.size(); ++slot) {
        Tensor parameter = parameters[indices[slot]];
        ops::copy_(parameter, shard->values.gradient(slot));
    }
    // [lab19.2]
}

}  // namespace

std::vector<int> partition_parameters(const std::vector<int64_t>& sizes, int world_size) {
    std::vector<int> owners(sizes.size());
    // [lab19.1] Give the largest parameter that is left to the rank with the least.
    std::vector<size_t> largest_first(sizes.size());
    std::iota(largest_first.begin(), largest_first.end(), size_t{0});
    std::ranges::stable_sort(largest_first, std::greater{},
                             [&](size_t i) { return sizes[i]; });

    std::vector<int64_t> load(static_cast<size_t>(world_size), 0);
    for (const size_t i : largest_first) {
        const auto least = std::ranges::min_element(load);
        owners[i] = static_cast<int>(least - load.begin());
        *least += sizes[i];
    }
    // [lab19.1]
    return owners;
}

ZeroRedundancyOptimizer::ZeroRedundancyOptimizer(
    std::vector<Tensor> parameters, const OptimizerFactory& make,
    std::shared_ptr<dist::ProcessGroup> group)
    : Optimizer(std::move(parameters), 0.0),
      group_(group ? std::move(group) : dist::default_group()) {
    check_same_parameters(*group_,
                          {.who = "ZeroRedundancyOptimizer",
                           .what = "parameters",
                           .remedy = "every rank must pass the same list"},
                          without_names(parameters_));
    check_dtypes(parameters_);
    owners_ = partition_parameters(sizes_of(parameters_), group_->world_size());

    // A rank that owns no parameter gets a dummy parameter that never has a gradient, so
    // that it has an optimizer with options like every other rank.
    std::vector<Tensor> own;
    for (const size_t i : indices_of(group_->rank())) own.push_back(parameters_[i]);
    if (own.empty()) own.push_back(parameters_.front().new_zeros({1}));
    local_ = make(std::move(own));
    MINI_CHECK(local_ != nullptr, "ZeroRedundancyOptimizer: the factory returned null");
    set_lr(local_->lr());
}

std::vector<size_t> ZeroRedundancyOptimizer::indices_of(int rank) const {
    std::vector<size_t> indices;
    for (size_t i = 0; i < owners_.size(); ++i)
        if (owners_[i] == rank) indices.push_back(i);
    return indices;
}

void ZeroRedundancyOptimizer::step() {
    Join::notify_join_context(*this);
    step_and_share();
}

void ZeroRedundancyOptimizer::step_and_share() {
    consolidated_.reset();
    const int P = group_->world_size();
    const std::vector<Tensor> values = detached(parameters_);
    // [lab19.2] Update this rank's own parameters, then receive each owner's.
    local_->set_lr(lr());
    local_->step();
    if (P == 1) return;

    // Start each broadcast before waiting for the one before: two shards in memory.
    std::optional<Shard> previous;
    for (int owner = 0; owner < P; ++owner) {
        auto shard = start_broadcast(*group_, owner, indices_of(owner), values);
        finish_broadcast(previous, values);
        previous = std::move(shard);
    }
    finish_broadcast(previous, values);
    // [lab19.2]
}

optim::OptimizerState ZeroRedundancyOptimizer::local_state() const {
    const std::vector<size_t> indices = indices_of(group_->rank());
    // [lab19.3] Give each entry the number of its parameter in the unsharded optimizer.
    return renumbered(local_->state_dict(), [&](size_t local) -> std::optional<size_t> {
        if (local >= indices.size()) return std::nullopt;  // the dummy parameter
        return indices[local];
    });
    // [lab19.3]
}

void ZeroRedundancyOptimizer::consolidate_state_dict(int to) {
    if (to < 0 || to >= group_->world_size())
        throw UsageError(concat("consolidate_state_dict: rank ", to,
                                " does not exist; ranks are 0 to ",
                                group_->world_size() - 1));
    local_->set_lr(lr());
    consolidated_.reset();
    const optim::OptimizerState mine = local_state();
    const int P = group_->world_size();
    optim::OptimizerState all;
    // [lab19.3] Broadcast each rank's state, and merge the states on rank `to`.
    // Start with rank `to`, since merge keeps the first value: for an entry that all
    // ranks have, such as the learning rate, the result is the value of rank `to`.
    for (int from = to; from < to + P; ++from) {
        optim::OptimizerState theirs = broadcast_state(*group_, mine, from % P);
        if (group_->rank() != to) continue;
        all.tensors.merge(theirs.tensors);
        all.numbers.merge(theirs.numbers);
    }
    // [lab19.3]
    if (group_->rank() == to) consolidated_ = std::move(all);
}

optim::OptimizerState ZeroRedundancyOptimizer::state_dict() const {
    MINI_CHECK(consolidated_.has_value(), "ZeroRedundancyOptimizer: rank ",
               group_->rank(),
               " has the state of its own parameters only; call consolidate_state_dict(",
               group_->rank(), ") on all ranks, after the last step");
    return *consolidated_;
}

void ZeroRedundancyOptimizer::check_exists(size_t number) const {
    if (number >= owners_.size())
        throw UsageError(concat("ZeroRedundancyOptimizer: the state has a parameter ",
                                number, ", but rank ", group_->rank(), " has ",
                                owners_.size(), " parameters"));
}

void ZeroRedundancyOptimizer::load_state_dict(const optim::OptimizerState& state) {
    const std::vector<size_t> indices = indices_of(group_->rank());
    // [lab19.4] Load the entries of this rank's own parameters into local_.
    const auto own = renumbered(state, [&](size_t number) -> std::optional<size_t> {
        check_exists(number);
        const auto found = std::ranges::find(indices, number);
        if (found == indices.end()) return std::nullopt;
        return static_cast<size_t>(found - indices.begin());
    });
    local_->load_state_dict(own);
    set_lr(local_->lr());
    consolidated_.reset();
    // [lab19.4]
}

JoinHook ZeroRedundancyOptimizer::join_hook(const JoinOptions&) {
    return {.main_hook = [this] { step_and_share(); }};
}

}  // namespace mini::parallel
