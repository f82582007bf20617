#include "libmini/parallel/gradient_buckets.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "libmini/distributed/transport/shared_all_reduce.hpp"

namespace mini::parallel {
namespace {

std::vector<int64_t> limits_of(const DDPOptions& options) {
    const double bytes = options.bucket_cap_mb * kBytesPerMib;
    if (!(bytes >= 1 && bytes < 0x1p62))
        throw UsageError("DistributedDataParallel: bucket_cap_mb is ",
                         options.bucket_cap_mb, " MiB; it must be at least one byte");
    return {options.first_bucket_bytes, static_cast<int64_t>(bytes)};
}

// Returns 0, 1, ..., count - 1.
std::vector<size_t> indices_below(size_t count) {
    std::vector<size_t> indices(count);
    std::iota(indices.begin(), indices.end(), size_t{0});
    return indices;
}

}  // namespace

GradientBuckets::GradientBuckets(nn::NamedTensors parameters, const DDPOptions& options,
                                 dist::ProcessGroup& group)
    : parameters_(std::move(parameters)),
      limits_(limits_of(options)),
      may_rebuild_(options.static_graph || !options.find_unused_parameters),
      group_(group),
      slots_(parameters_.size()) {
    make(compute_bucket_assignment_from_last(
        this->parameters(indices_below(slots_.size())), limits_));
}

std::vector<Tensor> GradientBuckets::parameters(
    const std::vector<size_t>& indices) const {
    std::vector<Tensor> result;
    for (const size_t index : indices) result.push_back(parameter(index));
    return result;
}

void GradientBuckets::make(std::vector<std::vector<size_t>> assignment) {
    const std::vector<Tensor> all_parameters = parameters(indices_below(slots_.size()));
    buckets_.clear();
    for (std::vector<size_t>& indices : assignment) {
        for (size_t slot = 0; slot < indices.size(); ++slot)
            slots_[indices[slot]] = {.bucket = buckets_.size(), .slot = slot};
        dist::share_memory(
            buckets_.emplace_back(std::move(indices), all_parameters).buffer());
    }
}

void GradientBuckets::begin_pass() {
    for (Bucket& bucket : buckets_) bucket.reset();
    if (is_learning_) order_.clear();
}

void GradientBuckets::note_gradient(size_t index) {
    have_begun_ = true;
    if (is_learning_ && std::ranges::find(order_, index) == order_.end())
        order_.push_back(index);
}

void GradientBuckets::end_pass() {
    have_begun_ = true;
    if (!std::exchange(is_learning_, false)) return;
    // Append the parameters without a gradient, from the last to the first.
    for (size_t index = parameters_.size(); index-- > 0;)
        if (std::ranges::find(order_, index) == order_.end()) order_.push_back(index);
}

void GradientBuckets::rebuild_if_due() {
    if (is_learning_ || is_rebuilt_ || !may_rebuild_) return;
    order_ = agreed_order();
    rebuild();
}

void GradientBuckets::rebuild() {
    auto assignment = compute_bucket_assignment(parameters(order_), limits_);
    for (auto& bucket : assignment)
        for (size_t& index : bucket) index = order_[index];
    make(std::move(assignment));
    is_rebuilt_ = true;
}

void GradientBuckets::set_order(const std::vector<int64_t>& order) {
    if (have_begun_)
        throw UsageError(
            "set_gradient_order: it must be called before the first iteration");
    if (!std::ranges::is_permutation(order, indices_below(slots_.size())))
        throw UsageError("set_gradient_order: these ", order.size(),
                         " numbers are not an order of ", parameters_.size(),
                         " parameters");
    order_.assign(order.begin(), order.end());
    is_learning_ = false;
    if (may_rebuild_) rebuild();
}

std::vector<size_t> GradientBuckets::agreed_order() {
    // [lab16.5] Use rank 0's order on every rank.
    const Tensor order = cpu_tensor(std::vector<int64_t>(order_.begin(), order_.end()));
    group_.broadcast(order, 0);
    const auto numbers = order.to_vector<int64_t>();
    return {numbers.begin(), numbers.end()};
    // [lab16.5]
}

std::string GradientBuckets::missing() const {
    std::string names;
    for (size_t index = 0; index < parameters_.size(); ++index)
        if (!buckets_[bucket_of(index)].is_ready(slot_of(index)))
            names += " " + parameters_[index].first +
                     (parameter(index).requires_grad() ? "" : " (frozen)");
    return names;
}

void GradientBuckets::throw_unlaunched(size_t number) const {
    MINI_CHECK(!missing().empty(),
               "DistributedDataParallel: all gradients were ready on rank ",
               group_.rank(), ", but bucket ", number,
               buckets_[number].is_full() ? " was never launched" : " never became full");
    throw Error(
        "DistributedDataParallel: these parameters took no part in the loss on rank ",
        group_.rank(),
        ", so their bucket cannot be averaged; with find_unused_parameters they may be "
        "left out:",
        missing());
}

void GradientBuckets::throw_unfinished() const {
    throw Error(
        "DistributedDataParallel: the last backward pass did not finish its reduction on "
        "rank ",
        group_.rank(),
        missing().empty() ? "; all gradients were ready, but a collective or a "
                            "communication hook failed"
                          : concat("; parameters without a gradient:", missing()));
}

void GradientBuckets::check_not_freed() const {
    for (size_t number = 0; number < buckets_.size(); ++number)
        MINI_CHECK(!buckets_[number].buffer().is_freed(),
                   "DistributedDataParallel: the communication hook has freed bucket ",
                   number, " on rank ", group_.rank(),
                   "; such a hook cannot be used with find_unused_parameters, "
                   "static_graph or Join");
}

}  // namespace mini::parallel
