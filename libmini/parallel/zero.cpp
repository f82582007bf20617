#include "libmini/parallel/zero.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

#include "libmini/distributed/group/current_group.hpp"
#include "libmini/parallel/bucket.hpp"
#include "libmini/parallel/zero_state.hpp"
#include "libmini/tensor/ops.hpp"

// [lab19 file]
namespace mini::parallel {

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

struct ZeroRedundancyOptimizer::Impl {
    const std::vector<size_t>& own() const {
        return indices[static_cast<size_t>(group->rank())];
    }

    std::shared_ptr<dist::ProcessGroup> group;
    std::vector<int> owners;                            // one per parameter
    std::vector<std::vector<size_t>> indices;           // of each rank's parameters
    std::unique_ptr<optim::Optimizer> local;            // of this rank's own parameters
    std::optional<optim::OptimizerState> consolidated;  // since the last step
};

namespace {

// The new values of one owner's parameters, in one buffer, during their broadcast. A
// Bucket's views are called gradients; here they hold parameters.
struct Shard {
    Bucket values;
    dist::WorkHandle work;
};

// Starts the broadcast of the parameters with these indices from `owner`; does not block.
// Returns std::nullopt if there are no elements to send.
std::optional<Shard> start_broadcast(dist::ProcessGroup& group, size_t owner,
                                     const std::vector<size_t>& indices,
                                     const std::vector<Tensor>& parameters) {
    if (indices.empty()) return std::nullopt;
    Shard shard{.values = Bucket(indices, parameters), .work = nullptr};
    if (shard.values.bytes() == 0) return std::nullopt;

    // [lab19.2] On the owner, copy its parameters to the buffer; broadcast the buffer.
    const auto root = static_cast<int>(owner);
    if (group.rank() == root)
        for (size_t slot = 0; slot < indices.size(); ++slot)
            shard.values.copy_gradient(slot, parameters[indices[slot]].detach(), 1.0f);
    shard.work = group.broadcast_async(shard.values.buffer(), root);
    // [lab19.2]
    return shard;
}

// Waits for the broadcast, and copies the values to the parameters.
void finish_broadcast(const std::optional<Shard>& shard,
                      const std::vector<Tensor>& parameters) {
    if (!shard) return;
    // detach(), and no NoGradGuard, which would end on another simulated rank's time.
    // [lab19.2] Wait, then copy each view to its parameter.
    shard->work->wait();
    const std::vector<size_t>& indices = shard->values.indices();
    for (size_t slot = 0; slot < indices.size(); ++slot) {
        Tensor parameter = parameters[indices[slot]].detach();
        ops::copy_(parameter, shard->values.gradient(slot));
    }
    // [lab19.2]
}

}  // namespace

ZeroRedundancyOptimizer::ZeroRedundancyOptimizer(
    std::vector<Tensor> parameters, const OptimizerFactory& make,
    std::shared_ptr<dist::ProcessGroup> group)
    : Optimizer(std::move(parameters)), impl_(std::make_shared<Impl>()) {
    impl_->group = group ? std::move(group) : dist::default_group();
    check_shardable(*impl_->group, parameters_);
    std::vector<int64_t> sizes;
    for (const Tensor& parameter : parameters_) sizes.push_back(parameter.numel());
    impl_->owners = partition_parameters(sizes, impl_->group->world_size());
    impl_->indices.resize(static_cast<size_t>(impl_->group->world_size()));
    for (size_t i = 0; i < sizes.size(); ++i)
        impl_->indices[static_cast<size_t>(impl_->owners[i])].push_back(i);

    // [lab19.2] Build the optimizer of this rank's own parameters.
    // It needs a parameter: a rank that owns none has a dummy, which never has a gradient.
    std::vector<Tensor> own;
    for (const size_t i : impl_->own()) own.push_back(parameters_[i]);
    if (own.empty()) own.push_back(parameters_.front().new_zeros({1}));
    impl_->local = make(std::move(own));
    MINI_CHECK(impl_->local, "ZeroRedundancyOptimizer: the factory returned null");
    set_lr(impl_->local->lr());
    // [lab19.2]
}

const std::vector<int>& ZeroRedundancyOptimizer::owners() const { return impl_->owners; }

const optim::Optimizer& ZeroRedundancyOptimizer::local_optimizer() const {
    return *impl_->local;
}

dist::ProcessGroup& ZeroRedundancyOptimizer::join_process_group() {
    return *impl_->group;
}

void ZeroRedundancyOptimizer::update_and_share() {
    impl_->consolidated.reset();
    dist::ProcessGroup& group = *impl_->group;
    // [lab19.2] Update this rank's own parameters, then receive each owner's.
    impl_->local->set_lr(lr());
    impl_->local->step();
    if (group.world_size() == 1) return;

    // Start each broadcast before waiting for the one before: two shards in memory.
    std::optional<Shard> previous;
    for (size_t owner = 0; owner < impl_->indices.size(); ++owner) {
        auto shard = start_broadcast(group, owner, impl_->indices[owner], parameters_);
        finish_broadcast(previous, parameters_);
        previous = std::move(shard);
    }
    finish_broadcast(previous, parameters_);
    // [lab19.2]
}

void ZeroRedundancyOptimizer::consolidate_state_dict(int to) {
    const int ranks = impl_->group->world_size();
    if (to < 0 || to >= ranks)
        throw UsageError("consolidate_state_dict: rank ", to,
                         " does not exist; ranks are 0 to ", ranks - 1);
    impl_->consolidated.reset();
    impl_->local->set_lr(lr());
    optim::OptimizerState all =
        collect_state(*impl_->group, impl_->local->state_dict(), impl_->own(), to);
    if (impl_->group->rank() == to) impl_->consolidated = std::move(all);
}

optim::OptimizerState ZeroRedundancyOptimizer::state_dict() const {
    MINI_CHECK(impl_->consolidated, "ZeroRedundancyOptimizer: rank ",
               impl_->group->rank(),
               " has the state of its own parameters only; call consolidate_state_dict(",
               impl_->group->rank(), ") on all ranks, after the last step");
    return *impl_->consolidated;
}

void ZeroRedundancyOptimizer::load_state_dict(const optim::OptimizerState& state) {
    // [lab19.4] Load this rank's part; a state that was collected before is out of date.
    impl_->local->load_state_dict(own_state(state, impl_->own(), parameters_.size()));
    set_lr(impl_->local->lr());
    impl_->consolidated.reset();
    // [lab19.4]
}

}  // namespace mini::parallel
// [lab19 file]
