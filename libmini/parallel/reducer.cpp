#include "libmini/parallel/reducer.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>

#include "libmini/core/log.hpp"
#include "libmini/parallel/used_parameters.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::parallel {

Reducer::Reducer(nn::NamedTensors parameters, const DDPOptions& options,
                 std::shared_ptr<dist::ProcessGroup> group)
    : parameters_(std::move(parameters)),
      options_(options),
      group_(std::move(group)),
      divisor_(group_->world_size()),
      slots_(parameters_.size()) {
    make_buckets(first_assignment());
    for (size_t index = 0; index < parameters_.size(); ++index) {
        Slot& slot = slots_[index];
        slot.accumulator = grad_accumulator(tensor(index));
        slot.hook = slot.accumulator->add_hook(
            [this, index](const Tensor&) { on_gradient(index); });
    }
}

Reducer::~Reducer() {
    for (const Slot& slot : slots_) slot.accumulator->remove_hook(slot.hook);
}

void Reducer::set_comm_hook(CommHook hook) {
    if (comm_hook_)
        throw UsageError(
            "register_comm_hook: a hook is already registered; register only one");
    if (iterations_ > 0 || started_)
        throw UsageError(
            "register_comm_hook: the hook must be registered before the first iteration");
    comm_hook_ = std::move(hook);
}

// ---- which gradients share a bucket

std::vector<Tensor> Reducer::tensors(const std::vector<size_t>& indices) const {
    std::vector<Tensor> result;
    for (const size_t index : indices) result.push_back(tensor(index));
    return result;
}

int64_t Reducer::bucket_cap_bytes() const {
    const double bytes = options_.bucket_cap_mb * kBytesPerMib;
    if (!(bytes >= 1 && bytes < 0x1p62))
        throw UsageError(concat("DistributedDataParallel: bucket_cap_mb is ",
                                options_.bucket_cap_mb,
                                " MiB; it must be at least one byte"));
    return static_cast<int64_t>(bytes);
}

std::vector<std::vector<size_t>> Reducer::first_assignment() const {
    std::vector<int64_t> limits{options_.first_bucket_bytes, bucket_cap_bytes()};
    std::vector<size_t> indices(parameters_.size());
    std::iota(indices.begin(), indices.end(), size_t{0});
    if (options_.torch_first_iteration) {
        if (may_rebuild()) limits = {std::numeric_limits<int64_t>::max()};
        auto assignment = compute_bucket_assignment(tensors(indices), limits);
        std::ranges::reverse(assignment);
        return assignment;
    }
    return compute_bucket_assignment_from_last(tensors(indices), limits);
}

void Reducer::make_buckets(std::vector<std::vector<size_t>> assignment) {
    std::vector<size_t> all(parameters_.size());
    std::iota(all.begin(), all.end(), size_t{0});
    const std::vector<Tensor> parameters = tensors(all);
    buckets_.clear();
    for (std::vector<size_t>& indices : assignment) {
        for (size_t slot = 0; slot < indices.size(); ++slot) {
            slots_[indices[slot]].bucket = buckets_.size();
            slots_[indices[slot]].slot = slot;
        }
        buckets_.emplace_back(std::move(indices), parameters);
    }
}

void Reducer::rebuild_buckets() {
    auto assignment = compute_bucket_assignment(
        tensors(order_), {options_.first_bucket_bytes, bucket_cap_bytes()});
    for (auto& bucket : assignment)
        for (size_t& index : bucket) index = order_[index];
    make_buckets(std::move(assignment));
    is_rebuilt_ = true;
}

void Reducer::set_gradient_order(const std::vector<int64_t>& order) {
    if (iterations_ > 0 || started_)
        throw UsageError(
            "set_gradient_order: it must be called before the first iteration");
    std::vector<int64_t> each(parameters_.size());
    std::iota(each.begin(), each.end(), int64_t{0});
    if (!std::ranges::is_permutation(order, each))
        throw UsageError(concat("set_gradient_order: these ", order.size(),
                                " numbers are not an order of ", parameters_.size(),
                                " parameters"));
    order_.assign(order.begin(), order.end());
    if (may_rebuild()) rebuild_buckets();
}

std::vector<size_t> Reducer::agreed_order() {
    // Append the parameters without a gradient, from the last to the first.
    for (size_t index = parameters_.size(); index-- > 0;)
        if (std::ranges::find(order_, index) == order_.end()) order_.push_back(index);

    // [lab16.5] Use rank 0's order on every rank.
    const Tensor order = cpu_tensor(std::vector<int64_t>(order_.begin(), order_.end()));
    group_->broadcast(order, 0);
    const auto numbers = order.to_vector<int64_t>();
    return {numbers.begin(), numbers.end()};
    // [lab16.5]
}

// ---- one iteration

void Reducer::prepare_for_forward() {
    const std::string missing = started_ ? missing_gradients() : std::string();
    MINI_CHECK(!started_,
               "DistributedDataParallel: the last backward pass did not finish its "
               "reduction on rank ",
               group_->rank(),
               missing.empty() ? "; all gradients were ready, but a collective or a "
                                 "communication hook failed"
                               : concat("; parameters without a gradient:", missing));
    if (is_rebuilt_ || !may_rebuild() || iterations_ == 0) return;
    order_ = agreed_order();
    rebuild_buckets();
}

void Reducer::prepare_for_backward(const Tensor& output) {
    reset();
    for (Slot& slot : slots_) slot.unused = slot.expected == 0;
    if (options_.find_unused_parameters && !options_.static_graph) {
        const std::vector<bool> used = used_parameters(output, parameters_);
        for (size_t index = 0; index < slots_.size(); ++index)
            slots_[index].unused = !used[index];
    }
    expecting_ = true;
}

void Reducer::reset() {
    for (Bucket& bucket : buckets_) bucket.reset();
    for (Slot& slot : slots_) slot.fired = 0;
    if (is_first_pass()) order_.clear();
    next_bucket_ = 0;
}

void Reducer::begin_pass() {
    started_ = true;
    queue_callback([this] { finish(); });
    if (is_learning()) return;
    for (size_t index = 0; index < slots_.size(); ++index)
        if (slots_[index].unused) mark_unused_ready(index);
}

void Reducer::on_gradient(size_t index) {
    slots_[index].used = true;  // within no_sync too: the gradient will be averaged later
    if (!expecting_) return;
    if (!started_) begin_pass();
    group_->events().record(EventKind::kGradReady, static_cast<int64_t>(index),
                            static_cast<int64_t>(tensor(index).bytes()));
    Slot& slot = slots_[index];
    if (++slot.fired == 1 && is_first_pass()) order_.push_back(index);
    if (is_learning()) return;
    check_gradient(index);
    if (slot.fired == slot.expected) mark_ready(index);
}

void Reducer::check_gradient(size_t index) const {
    const Slot& slot = slots_[index];
    const std::string& name = parameters_[index].first;
    MINI_CHECK(!(options_.static_graph && (slot.unused || slot.fired > slot.expected)),
               "DistributedDataParallel: the gradient of ", name, " came ", slot.fired,
               " times on rank ", group_->rank(), ", but ",
               slot.unused ? 0 : slot.expected,
               " times in the first iteration; static_graph is for graphs that do not "
               "change");
    MINI_CHECK(!slot.unused, "DistributedDataParallel: a gradient of ", name,
               " came on rank ", group_->rank(),
               ", but forward()'s result did not depend on it; is the parameter used "
               "outside of forward()?");
    MINI_CHECK(slot.fired <= slot.expected, "DistributedDataParallel: the gradient of ",
               name, " came twice in one backward pass on rank ", group_->rank(),
               "; is the parameter used outside of forward()?");
}

void Reducer::mark_ready(size_t index) {
    Tensor parameter = tensor(index);
    const Tensor gradient = parameter.grad();
    if (options_.check_gradients) check_.look_at(index, gradient);
    parameter.set_grad(in_bucket(index));
    copy_to_bucket(index, gradient);
}

void Reducer::mark_unused_ready(size_t index) {
    Tensor parameter = tensor(index);
    const Tensor& gradient = parameter.grad();
    if (gradient.defined() && gradient.shares_storage(in_bucket(index)))
        parameter.set_grad(ops::clone(gradient));
    copy_to_bucket(index, parameter.grad());
}

void Reducer::copy_to_bucket(size_t index, const Tensor& gradient) {
    Bucket& bucket = bucket_of(index);
    bucket.buffer().allocate_storage();  // a communication hook may have freed it
    const float share = comm_hook_ ? 1.0f : 1.0f / static_cast<float>(divisor_);
    bucket.copy_gradient(slots_[index].slot, gradient, share);
    if (!bucket.is_full()) return;
    group_->events().record(EventKind::kBucketReady,
                            static_cast<int64_t>(slots_[index].bucket), bucket.bytes());
    launch_full_buckets();
}

void Reducer::launch_full_buckets() {
    // [lab16.4] Launch full buckets in order, up to the first that is not full.
    for (; next_bucket_ < buckets_.size() && buckets_[next_bucket_].is_full();
         ++next_bucket_)
        buckets_[next_bucket_].finish = launch(next_bucket_);
    // [lab16.4]
}

FinishHook Reducer::launch(size_t index) {
    const Bucket& bucket = buckets_[index];
    MINI_CHECK(!bucket.finish, "DistributedDataParallel: bucket ", index,
               " is launched a second time in one backward pass on rank ",
               group_->rank());
    group_->events().record(EventKind::kBucketLaunch, static_cast<int64_t>(index),
                            bucket.bytes());
    if (!comm_hook_) {
        // After the last bucket, backward ends: do not wake the communication thread.
        const auto work = group_->start({.operation = dist::Operation::kAllReduce,
                                         .outputs = {bucket.buffer()},
                                         .deferred = index + 1 == buckets_.size()});
        return [work] { work->wait(); };
    }
    return comm_hook_({.index = index,
                       .is_last = index + 1 == buckets_.size(),
                       .buffer = bucket.buffer(),
                       .gradients = bucket.gradients(),
                       .parameters = tensors(bucket.indices())},
                      *group_);
}

// ---- the end of the backward pass

void Reducer::learn_graph() {
    for (size_t index = 0; index < slots_.size(); ++index) {
        slots_[index].unused = slots_[index].fired == 0;
        slots_[index].expected = slots_[index].fired;
    }
    has_learnt_ = true;
    for (size_t index = 0; index < slots_.size(); ++index)
        slots_[index].unused ? mark_unused_ready(index) : mark_ready(index);
}

void Reducer::finish() {
    group_->events().record(EventKind::kBackwardEnd);
    if (is_learning()) learn_graph();
    if (next_bucket_ < buckets_.size()) throw_unlaunched();
    complete();
}

void Reducer::complete() {
    // After the buckets, exchange which parameters each rank has used. With static_graph,
    // repeat the exchange until every rank has had its own first pass: a rank that has
    // joined without a batch has its first pass later.
    const bool shares_use =
        options_.find_unused_parameters || (options_.static_graph && !all_have_learnt_);
    Tensor use;
    dist::WorkHandle sharing;
    if (shares_use) {
        use = cpu_tensor(own_use());
        sharing = group_->all_reduce_async(use);
    }

    for (size_t index = 0; index < buckets_.size(); ++index) {
        MINI_CHECK(buckets_[index].finish, "DistributedDataParallel: bucket ", index,
                   " was launched on rank ", group_->rank(),
                   ", but its finish is empty: nothing waits for the reduction");
        buckets_[index].finish();
        buckets_[index].finish = nullptr;
        group_->events().record(EventKind::kBucketDone, static_cast<int64_t>(index),
                                buckets_[index].bytes());
    }
    std::vector<int64_t> counts;
    if (sharing) {
        sharing->wait();
        counts = use.to_vector<int64_t>();
        all_have_learnt_ = counts.back() == group_->world_size();
    }
    const bool has_unused = std::ranges::any_of(slots_, &Slot::unused);
    if (has_unused || shares_use) check_not_freed(buckets_, group_->rank());
    if (has_unused || shares_use) set_unused_gradients(counts);
    if (!has_unused && options_.find_unused_parameters) warn_of_needless_search();

    for (Slot& slot : slots_) slot.used = false;
    expecting_ = false;
    started_ = false;
    ++iterations_;
    if (options_.check_gradients) check_.agree(*group_, parameters_, iterations_);
}

std::vector<int64_t> Reducer::own_use() const {
    std::vector<int64_t> use;
    for (const Slot& slot : slots_) {
        const bool is_used =
            options_.static_graph ? has_learnt_ && slot.expected > 0 : slot.used;
        use.push_back(is_used ? 1 : 0);
    }
    use.push_back(has_learnt_ ? 1 : 0);
    return use;
}

void Reducer::set_unused_gradients(const std::vector<int64_t>& use) {
    // [lab16.7] Give each unused parameter the average, if some rank has used it.
    for (size_t index = 0; index < slots_.size(); ++index) {
        Slot& slot = slots_[index];
        if (!use.empty()) slot.used_somewhere = use[index] > 0;
        if (slot.unused && slot.used_somewhere) tensor(index).set_grad(in_bucket(index));
    }
    // [lab16.7]
}

void Reducer::warn_of_needless_search() const {
    if (iterations_ == 0 && group_->rank() == 0)
        logging::warning(
            "DistributedDataParallel: find_unused_parameters is set, but every parameter "
            "was used; without it each iteration saves a walk over the graph");
}

// PyTorch does not set the gradients of a joined rank; a sharded optimizer on such a rank
// would step with old gradients.
void Reducer::shadow_iteration() {
    prepare_for_forward();
    reset();
    for (size_t index = 0; index < slots_.size(); ++index) {
        Slot& slot = slots_[index];
        slot.unused = true;
        if (!slot.used) tensor(index).set_grad(Tensor());
        mark_unused_ready(index);
    }
    complete();
}

void Reducer::throw_unlaunched() const {
    const std::string missing = missing_gradients();
    const Bucket& next = buckets_[next_bucket_];
    MINI_CHECK(!missing.empty(),
               "DistributedDataParallel: all gradients were ready on rank ",
               group_->rank(), ", but bucket ", next_bucket_,
               !next.is_full() ? " never became full"
               : next.finish   ? " was launched and is still the next one to launch"
                               : " was full and was never launched");
    throw Error(concat(
        "DistributedDataParallel: these parameters took no part in the loss on rank ",
        group_->rank(),
        ", so their bucket cannot be averaged; with find_unused_parameters they may be "
        "left out:",
        missing));
}

std::string Reducer::missing_gradients() const {
    std::string names;
    for (size_t index = 0; index < parameters_.size(); ++index) {
        const Slot& slot = slots_[index];
        if (!buckets_[slot.bucket].is_ready(slot.slot))
            names += " " + parameters_[index].first +
                     (tensor(index).requires_grad() ? "" : " (frozen)");
    }
    return names;
}

}  // namespace mini::parallel
