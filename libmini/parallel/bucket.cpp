#include "libmini/parallel/bucket.hpp"

#include <algorithm>
#include <map>

#include "libmini/tensor/ops.hpp"

namespace mini::parallel {

std::vector<std::vector<size_t>> compute_bucket_assignment(
    const std::vector<Tensor>& tensors, const std::vector<int64_t>& limits) {
    if (limits.empty())
        throw UsageError("buckets: there must be at least one size limit");
    for (const int64_t limit : limits)
        if (limit < 1)
            throw UsageError(concat("buckets: the size limit ", limit, " is below 1"));

    struct Open {
        std::vector<size_t> places;
        int64_t bytes = 0;
        size_t closed = 0;
    };
    std::map<DType, Open> open_by_dtype;
    std::vector<std::vector<size_t>> buckets;
    for (size_t i = 0; i < tensors.size(); ++i) {
        // Join the open bucket of this dtype.
        Open& open = open_by_dtype[tensors[i].dtype()];
        open.places.push_back(i);
        open.bytes += static_cast<int64_t>(tensors[i].bytes());

        // Close it once it has reached its limit.
        if (open.bytes < limits[std::min(open.closed, limits.size() - 1)]) continue;
        buckets.push_back(std::move(open.places));
        open = {.places = {}, .bytes = 0, .closed = open.closed + 1};
    }
    for (auto& [dtype, open] : open_by_dtype)
        if (!open.places.empty()) buckets.push_back(std::move(open.places));

    std::ranges::sort(buckets, {}, [](const auto& bucket) { return bucket.front(); });
    return buckets;
}

Bucket::Bucket(std::vector<size_t> places, const std::vector<Tensor>& parameters)
    : places_(std::move(places)), ready_(places_.size()), pending_(places_.size()) {
    int64_t numel = 0;
    for (const size_t place : places_) numel += parameters[place].numel();
    buffer_ = Tensor::zeros({numel}, parameters[places_.front()].dtype());

    int64_t offset = 0;
    for (const size_t place : places_) {
        const Tensor& parameter = parameters[place];
        gradients_.push_back(ops::view(ops::narrow(buffer_, 0, offset, parameter.numel()),
                                       parameter.shape()));
        offset += parameter.numel();
    }
}

void Bucket::reset() {
    ready_.assign(places_.size(), false);
    pending_ = places_.size();
    finish = nullptr;
}

bool Bucket::mark_ready(size_t slot) {
    if (ready_[slot]) return false;
    ready_[slot] = true;
    --pending_;
    return true;
}

}  // namespace mini::parallel
