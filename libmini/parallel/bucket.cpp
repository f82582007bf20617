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
        if (limit < 1)
            throw UsageError(concat("buckets: the size limit ", limit, " is below 1"));

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

Bucket::Bucket(std::vector<size_t> indices, const std::vector<Tensor>& parameters)
    : indices_(std::move(indices)), ready_(indices_.size()), pending_(indices_.size()) {
    // `indices` is empty now, because it was moved to `indices_`.
    // [lab16.2] Create one flat buffer, and a view of it for each gradient.
    int64_t numel = 0;
    for (const size_t index : indices_) numel += parameters[index].numel();
    buffer_ = parameters[indices_.front()].new_zeros({numel});

    int64_t offset = 0;
    for (const size_t index : indices_) {
        const Tensor& parameter = parameters[index];
        gradients_.push_back(ops::view(ops::narrow(buffer_, 0, offset, parameter.numel()),
                                       parameter.shape()));
        offset += parameter.numel();
    }
    // [lab16.2]
}

void Bucket::reset() {
    ready_.assign(indices_.size(), false);
    pending_ = indices_.size();
    finish = nullptr;
}

void Bucket::copy_gradient(size_t slot, const Tensor& gradient, float share) {
    // [lab16.2] Copy the gradient into its view, multiply by `share`, and count it.
    Tensor view = gradients_[slot];
    if (!gradient.defined())
        ops::fill_(view, 0.0f);
    else if (!gradient.shares_storage(view))
        ops::copy_(view, gradient);
    if (share != 1.0f) ops::mul_(view, share);
    if (!ready_[slot]) --pending_;
    ready_[slot] = true;
    // [lab16.2]
}

}  // namespace mini::parallel
// [lab16 file]
