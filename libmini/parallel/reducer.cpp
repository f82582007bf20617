#include "libmini/parallel/reducer.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "libmini/autograd/engine.hpp"
#include "libmini/autograd/node.hpp"
#include "libmini/parallel/used_parameters.hpp"

// [lab16 file]
namespace mini::parallel {

struct Reducer::Impl {
    // Called by the hook of parameter `index`, in every backward pass.
    void on_gradient(size_t index);

    // Called when parameter `index` gets no more gradients in this pass: brings its gradient
    // into the bucket.
    void mark_ready(size_t index);

    // Called whenever a bucket has become full. Sets `finish` of the buckets it launches.
    void launch_full_buckets();

    // Starts the reduction of a bucket; returns a function that waits for it. The last
    // bucket's all-reduce, without a hook, starts in that function.
    FinishHook start(size_t number);

    // Called once at the end of a pass that averages.
    void end_backward();
    void wait_for_buckets();

    dist::ProcessGroup& group;
    GradientBuckets buckets;
    UsedParameters used;
    int divisor;
    std::vector<std::shared_ptr<AccumulateGrad>> accumulators = {};  // by parameter
    std::vector<int> hooks = {};                                     // for remove_hook()
    CommHook comm_hook = {};
    size_t next_bucket = 0;  // the next bucket to launch
    bool expecting = false;  // from prepare_for_backward() to the end of the pass
    bool started = false;    // the pass has reached its first gradient
};

Reducer::Reducer(const nn::NamedTensors& parameters, const DDPOptions& options,
                 dist::ProcessGroup& group)
    : impl_(new Impl{.group = group,
                     .buckets = {parameters, options, group},
                     .used = {parameters, options, group},
                     .divisor = group.world_size()}) {
    // [lab16.3] Add a hook to each parameter.
    for (size_t index = 0; index < parameters.size(); ++index) {
        impl_->accumulators.push_back(grad_accumulator(parameters[index].second));
        impl_->hooks.push_back(impl_->accumulators.back()->add_hook(
            [impl = impl_.get(), index](const Tensor&) { impl->on_gradient(index); }));
    }
    // [lab16.3]
}

Reducer::~Reducer() {
    for (size_t index = 0; index < impl_->hooks.size(); ++index)
        impl_->accumulators[index]->remove_hook(impl_->hooks[index]);
}

bool Reducer::averages_next() const { return impl_->expecting; }
void Reducer::set_comm_hook(CommHook hook) { impl_->comm_hook = std::move(hook); }
void Reducer::divide_by(int ranks) { impl_->divisor = ranks; }
const GradientBuckets& Reducer::buckets() const { return impl_->buckets; }
GradientBuckets& Reducer::buckets() { return impl_->buckets; }

void Reducer::prepare_for_forward() {
    if (impl_->started) impl_->buckets.throw_unfinished();
    impl_->buckets.rebuild_if_due();
}

void Reducer::prepare_for_backward(const Tensor& output) {
    impl_->used.begin_pass(output);
    impl_->buckets.begin_pass();
    impl_->next_bucket = 0;
    impl_->expecting = true;
}

void Reducer::Impl::on_gradient(size_t index) {
    used.mark_used(index);
    if (!expecting) return;
    // [lab16.3] Begin the pass at its first gradient; count each, the last is ready.
    if (!std::exchange(started, true)) {
        queue_callback([this] { end_backward(); });
        for (const size_t unused : used.unused()) mark_ready(unused);
    }
    group.events().record(EventKind::kGradReady, static_cast<int64_t>(index),
                          static_cast<int64_t>(buckets.view(index).bytes()));
    buckets.note_gradient(index);
    if (used.completes(index)) mark_ready(index);
    // [lab16.3]
}

void Reducer::Impl::mark_ready(size_t index) {
    // [lab16.3] Copy the gradient into its bucket; launch if the bucket is full then.
    const size_t number = buckets.bucket_of(index);
    Bucket& bucket = buckets[number];
    bucket.buffer().allocate_storage();  // a communication hook may have freed it
    Tensor parameter = buckets.parameter(index);
    const bool is_unused = used.is_unused(index);
    const Tensor gradient =
        is_unused ? used.kept_gradient(index, buckets.view(index)) : parameter.grad();
    if (!is_unused) parameter.set_grad(buckets.view(index));
    const float share = comm_hook ? 1.0f : 1.0f / static_cast<float>(divisor);
    bucket.copy_gradient(buckets.slot_of(index), gradient, share);
    if (!bucket.is_full()) return;
    group.events().record(EventKind::kBucketReady, static_cast<int64_t>(number),
                          bucket.bytes());
    launch_full_buckets();
    // [lab16.3]
}

void Reducer::Impl::launch_full_buckets() {
    // [lab16.4] Launch full buckets in order, up to the first that is not full.
    while (next_bucket < buckets.size() && buckets[next_bucket].is_full()) {
        const size_t number = next_bucket++;
        group.events().record(EventKind::kBucketLaunch, static_cast<int64_t>(number),
                              buckets[number].bytes());
        buckets[number].finish = start(number);
    }
    // [lab16.4]
}

FinishHook Reducer::Impl::start(size_t number) {
    const Bucket& bucket = buckets[number];
    const bool is_last = number + 1 == buckets.size();
    // All gradients are ready: nothing is left to do during the last all-reduce, so this
    // thread may run it. To wake the communication thread would take longer than a small one.
    if (!comm_hook && is_last)
        return [this, buffer = bucket.buffer()] { group.all_reduce(buffer); };
    if (!comm_hook)
        return [work = group.all_reduce_async(bucket.buffer())] { work->wait(); };
    return comm_hook({.index = number,
                      .is_last = is_last,
                      .buffer = bucket.buffer(),
                      .gradients = bucket.gradients(),
                      .parameters = buckets.parameters(bucket.indices())},
                     group);
}

void Reducer::Impl::end_backward() {
    group.events().record(EventKind::kBackwardEnd);
    if (used.learn_graph())
        for (size_t index = 0; index < hooks.size(); ++index) mark_ready(index);
    if (next_bucket < buckets.size()) buckets.throw_unlaunched(next_bucket);
    wait_for_buckets();
}

void Reducer::Impl::wait_for_buckets() {
    used.start_exchange();
    // [lab16.4] Wait for each bucket, in order, and record it.
    for (size_t number = 0; number < buckets.size(); ++number) {
        Bucket& bucket = buckets[number];
        MINI_CHECK(bucket.finish, "DistributedDataParallel: bucket ", number,
                   " was launched on rank ", group.rank(),
                   ", but its finish is empty: nothing waits for the reduction");
        std::exchange(bucket.finish, nullptr)();
        group.events().record(EventKind::kBucketDone, static_cast<int64_t>(number),
                              bucket.bytes());
    }
    // [lab16.4]
    if (used.may_be_incomplete()) buckets.check_not_freed();
    for (const size_t index : used.finish_exchange())
        buckets.parameter(index).set_grad(buckets.view(index));
    buckets.end_pass();
    expecting = started = false;
}

// PyTorch does not set the gradients of a joined rank; a sharded optimizer on such a rank
// would step with old gradients.
void Reducer::shadow_iteration() {
    prepare_for_forward();
    prepare_for_backward({});
    for (size_t index = 0; index < impl_->hooks.size(); ++index) {
        if (!impl_->used.was_used(index)) buckets().parameter(index).set_grad(Tensor());
        impl_->mark_ready(index);
    }
    impl_->wait_for_buckets();
}

}  // namespace mini::parallel
// [lab16 file]
