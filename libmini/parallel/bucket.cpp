#include "libmini/parallel/bucket.hpp"

#include <algorithm>
#include <map>

#include "libmini/tensor/ops.hpp"

// [lab16 file]
namespace mini::parallel {

std::vector<std::vector<size_t>> compute_bucket_assignment(
    const std::vector<Tensor>& tensors, const std::vector<int64_t>& limits) {
    if (limits.empty())
        throw UsageError("buckets: there must be at least one size limit");
    for (const int64_t limit : limits)
        if (limit < 1) throw UsageError("buckets: the size limit ", limit, " is below 1");

    struct Open {
        std::vector<size_t> indices;
        int64_t bytes = 0;
        size_t closed = 0;
    };
    std::map<DType, Open> open_by_dtype;
    std::vector<std::vector<size_t>> buckets;
    // [lab16.1] Add each tensor to a bucket, and close buckets that reach their limit.
    for (size_t i = 0; i < tensors.size(); ++i) {
        // Join the open bucket of this dtype.
        Open& open = open_by_dtype[tensors[i].dtype()];
        open.indices.push_back(i);
        open.bytes += static_cast<int64_t>(tensors[i].bytes());

        // Close it once it has reached its limit.
        if (open.bytes < limits[std::min(open.closed, limits.size() - 1)]) continue;
        buckets.push_back(std::move(open.indices));
        open = {.indices = {}, .bytes = 0, .closed = open.closed + 1};
    }
    for (auto& [dtype, open] : open_by_dtype)
        if (!open.indices.empty()) buckets.push_back(std::move(open.indices));
    // [lab16.1]

    std::ranges::sort(buckets, {}, [](const auto& bucket) { return bucket.front(); });
    return buckets;
}

std::vector<std::vector<size_t>> compute_bucket_assignment_from_last(
    const std::vector<Tensor>& tensors, const std::vector<int64_t>& limits) {
    // [lab16.1] Go from the last tensor to the first, but return indices of `tensors`.
    const std::vector<Tensor> reversed(tensors.rbegin(), tensors.rend());
    auto assignment = compute_bucket_assignment(reversed, limits);
    for (auto& bucket : assignment)
        for (size_t& index : bucket) index = tensors.size() - 1 - index;
    return assignment;
    // [lab16.1]
}

struct Bucket::Impl {
    std::vector<size_t> indices;
    Tensor buffer = {};
    std::vector<Tensor> gradients = {};  // views of the buffer
    std::vector<bool> ready = std::vector<bool>(indices.size());
    size_t pending = indices.size();
};

Bucket::Bucket(std::vector<size_t> indices, const std::vector<Tensor>& parameters)
    : impl_(new Impl{.indices = indices}) {
    // [lab16.2] Create one flat buffer, and a view of it for each gradient.
    int64_t numel = 0;
    for (const size_t index : indices) numel += parameters[index].numel();
    impl_->buffer = parameters[indices.front()].new_zeros({numel});

    int64_t offset = 0;
    for (const size_t index : indices) {
        const Tensor& parameter = parameters[index];
        const Tensor part = ops::narrow(impl_->buffer, 0, offset, parameter.numel());
        impl_->gradients.push_back(ops::view(part, parameter.shape()));
        offset += parameter.numel();
    }
    // [lab16.2]
}

const std::vector<size_t>& Bucket::indices() const { return impl_->indices; }
Tensor Bucket::buffer() const { return impl_->buffer; }
const std::vector<Tensor>& Bucket::gradients() const { return impl_->gradients; }
bool Bucket::is_ready(size_t slot) const { return impl_->ready[slot]; }
bool Bucket::is_full() const { return impl_->pending == 0; }

void Bucket::reset() {
    impl_->ready.assign(impl_->indices.size(), false);
    impl_->pending = impl_->indices.size();
    finish = nullptr;
}

void Bucket::copy_gradient(size_t slot, const Tensor& gradient, float share) {
    // [lab16.2] Copy the gradient into its view, multiply by `share`, and count it.
    Tensor view = impl_->gradients[slot];
    if (!gradient.defined())
        ops::fill_(view, 0.0f);
    else if (!gradient.shares_storage(view))
        ops::copy_(view, gradient);
    if (share != 1.0f) ops::mul_(view, share);
    if (!impl_->ready[slot]) --impl_->pending;
    impl_->ready[slot] = true;
    // [lab16.2]
}

}  // namespace mini::parallel
// [lab16 file]
