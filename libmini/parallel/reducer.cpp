#include "libmini/parallel/reducer.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>

#include "libmini/autograd/node.hpp"
#include "libmini/core/log.hpp"
#include "libmini/parallel/used_parameters.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::parallel {

Reducer::Reducer(nn::NamedTensors parameters, const ReducerOptions& options,
                 std::shared_ptr<dist::ProcessGroup> group)
    : parameters_(std::move(parameters)),
      options_(options),
      group_(std::move(group)),
      divisor_(group_->world_size()),
      slots_(parameters_.size()) {
    make_buckets(first_assignment());
    for (size_t place = 0; place < parameters_.size(); ++place)
        slots_[place].hook =
            grad_accumulator(tensor(place))->add_hook([this, place](const Tensor&) {
                on_gradient(place);
            });
}

Reducer::~Reducer() {
    for (size_t place = 0; place < parameters_.size(); ++place)
        grad_accumulator(tensor(place))->remove_hook(slots_[place].hook);
}

void Reducer::set_comm_hook(CommHook hook) {
    if (comm_hook_)
        throw UsageError(
            "register_comm_hook: there is one already; it may be registered once");
    if (iterations_ > 0 || started_)
        throw UsageError(
            "register_comm_hook: it must be registered before the first iteration");
    comm_hook_ = std::move(hook);
}

// ---- which gradients share a bucket

std::vector<Tensor> Reducer::tensors(const std::vector<size_t>& places) const {
    std::vector<Tensor> result;
    for (const size_t place : places) result.push_back(tensor(place));
    return result;
}

// PyTorch fills buckets from the first parameter on, and reverses their list: one bucket
// for all where they will be made anew.
std::vector<std::vector<size_t>> Reducer::first_assignment() const {
    std::vector<int64_t> limits{options_.first_bucket_bytes, options_.bucket_cap_bytes};
    std::vector<size_t> places(parameters_.size());
    std::iota(places.begin(), places.end(), size_t{0});
    if (options_.torch_first_iteration) {
        if (may_rebuild()) limits = {std::numeric_limits<int64_t>::max()};
        auto assignment = compute_bucket_assignment(tensors(places), limits);
        std::ranges::reverse(assignment);
        return assignment;
    }
    // [lab16.2] Go from the last parameter to the first, about as gradients will come.
    std::ranges::reverse(places);
    auto assignment = compute_bucket_assignment(tensors(places), limits);
    for (auto& bucket : assignment)
        for (size_t& place : bucket) place = places[place];
    return assignment;
    // [lab16.2]
}

void Reducer::make_buckets(std::vector<std::vector<size_t>> assignment) {
    std::vector<size_t> all(parameters_.size());
    std::iota(all.begin(), all.end(), size_t{0});
    const std::vector<Tensor> parameters = tensors(all);
    buckets_.clear();
    for (std::vector<size_t>& places : assignment) {
        for (size_t slot = 0; slot < places.size(); ++slot) {
            slots_[places[slot]].bucket = buckets_.size();
            slots_[places[slot]].slot = slot;
        }
        buckets_.emplace_back(std::move(places), parameters);
    }
}

void Reducer::rebuild_buckets() {
    auto assignment = compute_bucket_assignment(
        tensors(order_), {options_.first_bucket_bytes, options_.bucket_cap_bytes});
    for (auto& bucket : assignment)
        for (size_t& place : bucket) place = order_[place];
    make_buckets(std::move(assignment));
    is_rebuilt_ = true;
}

void Reducer::set_gradient_order(const std::vector<int64_t>& order) {
    if (iterations_ > 0 || started_)
        throw UsageError("set_gradient_order: it must come before the first iteration");
    std::vector<int64_t> each(parameters_.size());
    std::iota(each.begin(), each.end(), int64_t{0});
    if (!std::ranges::is_permutation(order, each))
        throw UsageError(concat("set_gradient_order: these ", order.size(),
                                " numbers are no order of ", parameters_.size(),
                                " parameters"));
    order_.assign(order.begin(), order.end());
    if (may_rebuild()) rebuild_buckets();
}

std::vector<size_t> Reducer::agreed_order() {
    // Put the parameters without a gradient behind, from the last one on.
    for (size_t place = parameters_.size(); place-- > 0;)
        if (std::ranges::find(order_, place) == order_.end()) order_.push_back(place);

    // [lab16.5] Take rank 0's order, on every rank.
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
               missing.empty() ? "; all gradients came, but a collective or a "
                                 "communication hook failed"
                               : concat("; without a gradient were:", missing));
    if (is_rebuilt_ || !may_rebuild() || iterations_ == 0) return;
    order_ = agreed_order();
    rebuild_buckets();
}

void Reducer::prepare_for_backward(const Tensor& output) {
    reset();
    for (Slot& slot : slots_) slot.unused = slot.expected == 0;
    if (options_.find_unused_parameters && !options_.static_graph) {
        const std::vector<bool> used = used_parameters(output, parameters_);
        for (size_t place = 0; place < slots_.size(); ++place)
            slots_[place].unused = !used[place];
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
    for (size_t place = 0; place < slots_.size(); ++place)
        if (slots_[place].unused) bring_in_unused(place);
}

void Reducer::on_gradient(size_t place) {
    slots_[place].used = true;  // within no_sync too: it will be averaged
    if (!expecting_) return;
    if (!started_) begin_pass();
    group_->events().record(EventKind::kGradReady, static_cast<int64_t>(place),
                            static_cast<int64_t>(tensor(place).bytes()));
    Slot& slot = slots_[place];
    if (++slot.fired == 1 && is_first_pass()) order_.push_back(place);
    if (is_learning()) return;
    check_gradient(place);
    if (slot.fired == slot.expected) bring_in(place);
}

// Whether this gradient was to be expected.
void Reducer::check_gradient(size_t place) const {
    const Slot& slot = slots_[place];
    const std::string& name = parameters_[place].first;
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

// From now on the parameter's gradient is its place in the bucket.
void Reducer::bring_in(size_t place) {
    Tensor parameter = tensor(place);
    const Tensor gradient = parameter.grad();
    if (options_.check_gradients) check_.look_at(place, gradient);
    parameter.set_grad(in_bucket(place));
    hand_over(place, gradient);
}

// What has accumulated before takes part, and is kept in case no rank has a gradient.
void Reducer::bring_in_unused(size_t place) {
    Tensor parameter = tensor(place);
    const Tensor& gradient = parameter.grad();
    if (gradient.defined() && gradient.shares_storage(in_bucket(place)))
        parameter.set_grad(ops::clone(gradient));
    hand_over(place, parameter.grad());
}

// A communication hook sees gradients undivided.
void Reducer::hand_over(size_t place, const Tensor& gradient) {
    Bucket& bucket = bucket_of(place);
    const float share = comm_hook_ ? 1.0f : 1.0f / static_cast<float>(divisor_);
    bucket.bring_in(slots_[place].slot, gradient, share);
    if (!bucket.is_full()) return;
    group_->events().record(EventKind::kBucketReady,
                            static_cast<int64_t>(slots_[place].bucket), bucket.bytes());
    launch_full_buckets();
}

void Reducer::launch_full_buckets() {
    // [lab16.4] Launch what is full, but only as long as nothing before it is missing.
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
    if (!comm_hook_)
        return [work = group_->all_reduce_async(bucket.buffer())] { work->wait(); };
    return comm_hook_({.index = index,
                       .is_last = index + 1 == buckets_.size(),
                       .buffer = bucket.buffer(),
                       .gradients = bucket.gradients(),
                       .parameters = tensors(bucket.places())},
                      *group_);
}

// ---- the end of the backward pass

// This rank's first pass of a static graph: what came is what will always come.
void Reducer::learn_graph() {
    for (size_t place = 0; place < slots_.size(); ++place) {
        slots_[place].unused = slots_[place].fired == 0;
        slots_[place].expected = slots_[place].fired;
    }
    has_learnt_ = true;
    for (size_t place = 0; place < slots_.size(); ++place)
        slots_[place].unused ? bring_in_unused(place) : bring_in(place);
}

void Reducer::finish() {
    group_->events().record(EventKind::kBackwardEnd);
    if (is_learning()) learn_graph();
    if (next_bucket_ < buckets_.size()) throw_unlaunched();
    complete();
}

void Reducer::complete() {
    // Tell each other which parameters were used, behind the buckets. Of a static graph a
    // rank knows that after its own first pass, which comes later where it has joined.
    const bool shares_use =
        options_.find_unused_parameters || (options_.static_graph && !all_have_learnt_);
    const Tensor use = cpu_tensor(own_use());
    dist::WorkHandle sharing;
    if (shares_use) sharing = group_->all_reduce_async(use);

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
    if (has_unused || shares_use) hand_out_unused(counts);
    if (!has_unused && options_.find_unused_parameters) warn_of_needless_search();

    for (Slot& slot : slots_) slot.used = false;
    expecting_ = false;
    started_ = false;
    ++iterations_;
    if (options_.check_gradients) check_.agree(*group_, parameters_, iterations_);
}

// 1 for each parameter that this rank brings a gradient of, or of a static graph always
// does; and, behind them, for a rank that has learnt that.
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

void Reducer::hand_out_unused(const std::vector<int64_t>& use) {
    // [lab16.6] Give unused parameters the average, where some rank has used them.
    for (size_t place = 0; place < slots_.size(); ++place) {
        Slot& slot = slots_[place];
        if (!use.empty()) slot.used_somewhere = use[place] > 0;
        if (slot.unused && slot.used_somewhere) tensor(place).set_grad(in_bucket(place));
    }
    // [lab16.6]
}

void Reducer::warn_of_needless_search() const {
    if (iterations_ == 0 && group_->rank() == 0)
        logging::warning(
            "DistributedDataParallel: find_unused_parameters is on, but every parameter "
            "was used; without it each iteration saves a walk over the graph");
}

// Like a pass after zero_grad() in which this rank uses no parameter. PyTorch does not set
// the gradients of a joined rank; a sharded optimizer there would step with old ones.
void Reducer::shadow_iteration() {
    prepare_for_forward();
    reset();
    for (size_t place = 0; place < slots_.size(); ++place) {
        Slot& slot = slots_[place];
        slot.unused = true;
        if (!slot.used) tensor(place).set_grad(Tensor());
        bring_in_unused(place);
    }
    complete();
}

void Reducer::throw_unlaunched() const {
    const std::string missing = missing_gradients();
    const Bucket& next = buckets_[next_bucket_];
    MINI_CHECK(!missing.empty(), "DistributedDataParallel: all gradients came on rank ",
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
    for (size_t place = 0; place < parameters_.size(); ++place) {
        const Slot& slot = slots_[place];
        if (!buckets_[slot.bucket].is_ready(slot.slot))
            names += " " + parameters_[place].first;
    }
    return names;
}

}  // namespace mini::parallel
