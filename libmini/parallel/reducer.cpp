#include "libmini/parallel/reducer.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "libmini/tensor/ops.hpp"

namespace mini::parallel {

Reducer::Reducer(const nn::NamedTensors& parameters, const DDPOptions& options,
                 dist::ProcessGroup& group)
    : group_(group),
      buckets_(parameters, options, group),
      used_(parameters, options, group),
      divisor_(group.world_size()) {
    for (size_t index = 0; index < parameters.size(); ++index) {
        accumulators_.push_back(grad_accumulator(parameters[index].second));
        hooks_.push_back(accumulators_.back()->add_hook(
            [this, index](const Tensor&) { on_gradient(index); }));
    }
}

Reducer::~Reducer() {
    for (size_t index = 0; index < hooks_.size(); ++index)
        accumulators_[index]->remove_hook(hooks_[index]);
}

void Reducer::set_comm_hook(CommHook hook) {
    if (!hook) throw UsageError("register_comm_hook: the hook is empty");
    if (comm_hook_)
        throw UsageError(
            "register_comm_hook: a hook is already registered; register only one");
    if (buckets_.have_begun())
        throw UsageError(
            "register_comm_hook: the hook must be registered before the first iteration");
    comm_hook_ = std::move(hook);
}

// ---- one iteration

void Reducer::prepare_for_forward() {
    const std::string missing = started_ ? buckets_.missing() : std::string();
    MINI_CHECK(!started_,
               "DistributedDataParallel: the last backward pass did not finish its "
               "reduction on rank ",
               group_.rank(),
               missing.empty() ? "; all gradients were ready, but a collective or a "
                                 "communication hook failed"
                               : concat("; parameters without a gradient:", missing));
    buckets_.rebuild_if_due();
}

void Reducer::prepare_for_backward(const Tensor& output) {
    used_.begin_pass(output);
    buckets_.begin_pass();
    next_bucket_ = 0;
    expecting_ = true;
}

void Reducer::on_gradient(size_t index) {
    used_.mark_used(index);
    if (!expecting_) return;
    if (!std::exchange(started_, true)) {
        queue_callback([this] { end_backward(); });
        for (const size_t unused : used_.unused()) mark_ready(unused);
    }
    group_.events().record(EventKind::kGradReady, static_cast<int64_t>(index),
                           static_cast<int64_t>(buckets_.view(index).bytes()));
    buckets_.note_gradient(index);
    if (used_.completes(index)) mark_ready(index);
}

void Reducer::mark_ready(size_t index) {
    Tensor parameter = buckets_.parameter(index);
    Tensor gradient = parameter.grad();
    if (!used_.is_unused(index)) {
        parameter.set_grad(buckets_.view(index));
    } else if (gradient.defined() && gradient.shares_storage(buckets_.view(index))) {
        gradient = ops::clone(gradient);
        parameter.set_grad(gradient);
    }
    copy_and_launch(index, gradient);
}

void Reducer::copy_and_launch(size_t index, const Tensor& gradient) {
    const size_t number = buckets_.bucket_of(index);
    Bucket& bucket = buckets_[number];
    bucket.buffer().allocate_storage();  // a communication hook may have freed it
    const float share = comm_hook_ ? 1.0f : 1.0f / static_cast<float>(divisor_);
    bucket.copy_gradient(buckets_.slot_of(index), gradient, share);
    if (!bucket.is_full()) return;
    group_.events().record(EventKind::kBucketReady, static_cast<int64_t>(number),
                           bucket.bytes());
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
               " is launched a second time in one backward pass on rank ", group_.rank());
    group_.events().record(EventKind::kBucketLaunch, static_cast<int64_t>(index),
                           bucket.bytes());
    const bool is_last = index + 1 == buckets_.size();
    // The module's backward pass is over. To wake the communication thread would take
    // longer than a small all-reduce, so the waiting thread runs the last one.
    if (!comm_hook_ && is_last)
        return [this, buffer = bucket.buffer()] { group_.all_reduce(buffer); };
    if (!comm_hook_)
        return [work = group_.all_reduce_async(bucket.buffer())] { work->wait(); };
    return comm_hook_({.index = index,
                       .is_last = is_last,
                       .buffer = bucket.buffer(),
                       .gradients = bucket.gradients(),
                       .parameters = buckets_.parameters(bucket.indices())},
                      group_);
}

// ---- the end of the backward pass

void Reducer::end_backward() {
    group_.events().record(EventKind::kBackwardEnd);
    if (used_.learn_graph())
        for (size_t index = 0; index < hooks_.size(); ++index) mark_ready(index);
    if (next_bucket_ < buckets_.size()) buckets_.throw_unlaunched(next_bucket_);
    wait_for_buckets();
}

void Reducer::wait_for_buckets() {
    used_.start_exchange();
    for (size_t index = 0; index < buckets_.size(); ++index) {
        Bucket& bucket = buckets_[index];
        MINI_CHECK(bucket.finish, "DistributedDataParallel: bucket ", index,
                   " was launched on rank ", group_.rank(),
                   ", but its finish is empty: nothing waits for the reduction");
        bucket.finish();
        bucket.finish = nullptr;
        group_.events().record(EventKind::kBucketDone, static_cast<int64_t>(index),
                               bucket.bytes());
    }
    if (used_.may_be_incomplete()) buckets_.check_not_freed();
    for (const size_t index : used_.finish_exchange())
        buckets_.parameter(index).set_grad(buckets_.view(index));
    buckets_.end_pass();
    expecting_ = started_ = false;
}

// PyTorch does not set the gradients of a joined rank; a sharded optimizer on such a rank
// would step with old gradients.
void Reducer::shadow_iteration() {
    prepare_for_forward();
    prepare_for_backward({});
    for (size_t index = 0; index < hooks_.size(); ++index) {
        if (!used_.was_used(index)) buckets_.parameter(index).set_grad(Tensor());
        mark_ready(index);
    }
    wait_for_buckets();
}

}  // namespace mini::parallel
