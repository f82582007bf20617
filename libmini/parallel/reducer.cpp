#include "libmini/parallel/reducer.hpp"

#include "libmini/autograd/node.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::parallel {

Reducer::Reducer(nn::NamedTensors parameters, const std::vector<int64_t>& bucket_limits,
                 std::shared_ptr<dist::ProcessGroup> group)
    : parameters_(std::move(parameters)),
      group_(std::move(group)),
      slots_(parameters_.size()),
      hooks_(parameters_.size()) {
    // Assign from the last parameter to the first: about the order their gradients come in.
    std::vector<Tensor> forward;
    for (const auto& [name, parameter] : parameters_) forward.push_back(parameter);
    const std::vector<Tensor> backward(forward.rbegin(), forward.rend());
    for (std::vector<size_t>& places :
         compute_bucket_assignment(backward, bucket_limits)) {
        for (size_t slot = 0; slot < places.size(); ++slot) {
            places[slot] = forward.size() - 1 - places[slot];
            slots_[places[slot]] = {buckets_.size(), slot};
        }
        buckets_.emplace_back(std::move(places), forward);
    }

    // Listen to every parameter.
    for (size_t place = 0; place < forward.size(); ++place)
        hooks_[place] =
            grad_accumulator(forward[place])->add_hook([this, place](const Tensor& leaf) {
                on_gradient(place, leaf);
            });
}

Reducer::~Reducer() {
    for (size_t place = 0; place < parameters_.size(); ++place)
        grad_accumulator(parameters_[place].second)->remove_hook(hooks_[place]);
}

void Reducer::prepare_for_backward() {
    MINI_CHECK(!started_,
               "DistributedDataParallel: the last backward pass did not finish its "
               "reduction on rank ",
               group_->rank(), "; without a gradient were:", missing_gradients());
    for (Bucket& bucket : buckets_) bucket.reset();
    next_bucket_ = 0;
    expecting_ = true;
}

void Reducer::on_gradient(size_t place, Tensor parameter) {
    if (!expecting_) return;
    if (!started_) {
        started_ = true;
        queue_callback([this] { finish(); });
    }
    const auto [index, slot] = slots_[place];
    Bucket& bucket = buckets_[index];
    group_->events().record(EventKind::kGradReady, static_cast<int64_t>(place),
                            static_cast<int64_t>(parameter.bytes()));

    // Bring the gradient into the bucket, unless it has accumulated there already.
    Tensor in_bucket = bucket.gradient(slot);
    if (!parameter.grad().shares_storage(in_bucket)) {
        ops::copy_(in_bucket, parameter.grad());
        parameter.set_grad(in_bucket);
    }
    ops::mul_(in_bucket, 1.0f / static_cast<float>(group_->world_size()));

    MINI_CHECK(bucket.mark_ready(slot), "DistributedDataParallel: the gradient of ",
               parameters_[place].first, " came twice in one backward pass on rank ",
               group_->rank(), "; is the parameter used outside of forward()?");
    if (!bucket.is_full()) return;
    group_->events().record(EventKind::kBucketReady, static_cast<int64_t>(index),
                            bucket.bytes());
    launch_full_buckets();
}

// Launches what is full, but only as long as nothing before it is missing.
void Reducer::launch_full_buckets() {
    for (; next_bucket_ < buckets_.size() && buckets_[next_bucket_].is_full();
         ++next_bucket_) {
        Bucket& bucket = buckets_[next_bucket_];
        group_->events().record(EventKind::kBucketLaunch,
                                static_cast<int64_t>(next_bucket_), bucket.bytes());
        bucket.work = group_->all_reduce_async(bucket.buffer(), dist::ReduceOp::kSum);
    }
}

// Runs at the end of the backward pass.
void Reducer::finish() {
    group_->events().record(EventKind::kBackwardEnd);
    MINI_CHECK(
        next_bucket_ == buckets_.size(),
        "DistributedDataParallel: these parameters took no part in the loss on rank ",
        group_->rank(), ", so their bucket cannot be averaged:", missing_gradients());
    for (size_t index = 0; index < buckets_.size(); ++index) {
        buckets_[index].work->wait();
        buckets_[index].work = nullptr;
        group_->events().record(EventKind::kBucketDone, static_cast<int64_t>(index),
                                buckets_[index].bytes());
    }
    expecting_ = false;
    started_ = false;
}

std::string Reducer::missing_gradients() const {
    std::string names;
    for (size_t place = 0; place < parameters_.size(); ++place) {
        const auto [bucket, slot] = slots_[place];
        if (!buckets_[bucket].is_ready(slot)) names += " " + parameters_[place].first;
    }
    return names;
}

}  // namespace mini::parallel
