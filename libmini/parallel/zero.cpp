#include "libmini/parallel/zero.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "libmini/distributed/launch/default_group.hpp"
#include "libmini/parallel/same_parameters.hpp"
#include "libmini/parallel/zero_state.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::parallel {
namespace {

nn::NamedTensors without_names(const std::vector<Tensor>& tensors) {
    nn::NamedTensors named;
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

// The parameters of one owner during their broadcast, copied into one buffer.
struct Shard {
    std::vector<Tensor> parameters;
    std::vector<Tensor> views;  // of the buffer, in the parameters' shapes
    dist::WorkHandle work;      // null if the owner has no elements to send
};

Shard start_broadcast(dist::ProcessGroup& group, int owner,
                      std::vector<Tensor> parameters) {
    int64_t count = 0;
    for (const Tensor& parameter : parameters) count += parameter.numel();
    if (count == 0) return {};

    Shard shard{.parameters = std::move(parameters), .views = {}, .work = nullptr};
    const Tensor buffer = shard.parameters.front().new_empty({count});
    int64_t start = 0;
    for (const Tensor& parameter : shard.parameters) {
        shard.views.push_back(buffer.as_strided(
            parameter.shape(), contiguous_strides(parameter.shape()), start));
        if (owner == group.rank()) ops::copy_(shard.views.back(), parameter);
        start += parameter.numel();
    }
    shard.work = group.broadcast_async(buffer, owner);
    return shard;
}

void finish_broadcast(Shard& shard) {
    if (!shard.work) return;
    shard.work->wait();
    for (size_t i = 0; i < shard.parameters.size(); ++i)
        ops::copy_(shard.parameters[i], shard.views[i]);
}

class ZeroJoinHook : public JoinHook {
  public:
    explicit ZeroJoinHook(std::function<void()> step) : step_(std::move(step)) {}
    void main_hook() override { step_(); }

  private:
    std::function<void()> step_;
};

}  // namespace

std::vector<int> partition_parameters(const std::vector<int64_t>& sizes, int world_size) {
    std::vector<size_t> largest_first(sizes.size());
    std::iota(largest_first.begin(), largest_first.end(), 0);
    std::ranges::stable_sort(largest_first, std::greater{},
                             [&](size_t i) { return sizes[i]; });

    std::vector<int> owners(sizes.size());
    std::vector<int64_t> load(static_cast<size_t>(world_size), 0);
    for (const size_t i : largest_first) {
        const auto least = std::ranges::min_element(load);
        owners[i] = static_cast<int>(least - load.begin());
        *least += sizes[i];
    }
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
    local_->set_lr(lr());
    local_->step();
    if (group_->world_size() == 1) return;

    // Start all broadcasts, then receive the values.
    std::vector<Shard> shards;
    for (int owner = 0; owner < group_->world_size(); ++owner) {
        std::vector<Tensor> parameters;
        for (const size_t i : indices_of(owner)) parameters.push_back(parameters_[i]);
        shards.push_back(start_broadcast(*group_, owner, std::move(parameters)));
    }
    for (Shard& shard : shards) finish_broadcast(shard);
}

// Returns this rank's state; the names contain the parameters' indices in parameters_.
optim::OptimizerState ZeroRedundancyOptimizer::local_state() const {
    const std::vector<size_t> indices = indices_of(group_->rank());
    return renumbered(local_->state_dict(), [&](size_t local) -> std::optional<size_t> {
        if (local >= indices.size()) return std::nullopt;
        return indices[local];
    });
}

void ZeroRedundancyOptimizer::consolidate_state_dict(int to) {
    if (to < 0 || to >= group_->world_size())
        throw UsageError(concat("consolidate_state_dict: rank ", to,
                                " does not exist; ranks are 0 to ",
                                group_->world_size() - 1));
    local_->set_lr(lr());
    consolidated_.reset();
    const optim::OptimizerState mine = local_state();
    optim::OptimizerState all;

    // Start with rank `to`, since merge keeps the first value: for an entry that all
    // ranks have, such as the learning rate, the result is the value of rank `to`.
    const int P = group_->world_size();
    for (int from = to; from < to + P; ++from) {
        optim::OptimizerState theirs = broadcast_state(*group_, mine, from % P);
        if (group_->rank() != to) continue;
        all.tensors.merge(theirs.tensors);
        all.numbers.merge(theirs.numbers);
    }
    if (group_->rank() == to) consolidated_ = std::move(all);
}

optim::OptimizerState ZeroRedundancyOptimizer::state_dict() const {
    MINI_CHECK(consolidated_.has_value(), "ZeroRedundancyOptimizer: rank ",
               group_->rank(),
               " has the state of its own parameters only; call consolidate_state_dict(",
               group_->rank(), ") on all ranks, after the last step");
    return *consolidated_;
}

void ZeroRedundancyOptimizer::load_state_dict(const optim::OptimizerState& state) {
    const std::vector<size_t> indices = indices_of(group_->rank());
    const auto own = renumbered(state, [&](size_t number) -> std::optional<size_t> {
        if (number >= owners_.size())
            throw UsageError(concat("ZeroRedundancyOptimizer: the state has a parameter ",
                                    number, ", but rank ", group_->rank(), " has ",
                                    owners_.size(), " parameters"));
        const auto found = std::ranges::find(indices, number);
        if (found == indices.end()) return std::nullopt;
        return static_cast<size_t>(found - indices.begin());
    });
    local_->load_state_dict(own);
    set_lr(local_->lr());
    consolidated_.reset();
}

std::unique_ptr<JoinHook> ZeroRedundancyOptimizer::join_hook(const JoinOptions&) {
    return std::make_unique<ZeroJoinHook>([this] { step_and_share(); });
}

}  // namespace mini::parallel
