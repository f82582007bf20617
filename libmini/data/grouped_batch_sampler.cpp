#include "libmini/data/grouped_batch_sampler.hpp"

#include <unordered_map>
#include <utility>

#include "libmini/core/error.hpp"

namespace mini::data {

GroupedBatchSampler::GroupedBatchSampler(std::shared_ptr<Sampler> sampler,
                                         std::vector<int64_t> group_ids,
                                         int64_t batch_size, bool drop_uneven)
    : sampler_(std::move(sampler)),
      group_ids_(std::move(group_ids)),
      batch_size_(batch_size),
      drop_uneven_(drop_uneven) {
    if (!sampler_) throw UsageError("GroupedBatchSampler: no sampler was given");
    if (batch_size < 1)
        throw UsageError("GroupedBatchSampler: batch_size is ", batch_size,
                         " but must be at least 1");
}

std::vector<std::vector<int64_t>> GroupedBatchSampler::batches() {
    if (prepared_) return *std::exchange(prepared_, std::nullopt);
    return prepare();
}

int64_t GroupedBatchSampler::size() {
    if (!prepared_) prepared_ = prepare();
    return static_cast<int64_t>(prepared_->size());
}

void GroupedBatchSampler::set_epoch(int64_t epoch) {
    prepared_.reset();
    sampler_->set_epoch(epoch);
}

std::vector<std::vector<int64_t>> GroupedBatchSampler::prepare() {
    std::vector<std::vector<int64_t>> batches;

    // [lab08.5] Fill one open batch for each group.
    std::unordered_map<int64_t, size_t> open;  // group -> its batch that is being filled
    const auto full = [&](size_t batch) {
        return static_cast<int64_t>(batches[batch].size()) == batch_size_;
    };

    // Append each sample to its group's open batch, or start a new batch with it.
    for (const int64_t index : sampler_->indices()) {
        const auto [it, is_first] = open.try_emplace(group_of(index), batches.size());
        if (is_first || full(it->second)) {
            it->second = batches.size();
            batches.emplace_back();
        }
        batches[it->second].push_back(index);
    }
    // [lab08.5]

    if (drop_uneven_)
        std::erase_if(batches, [&](const std::vector<int64_t>& batch) {
            return static_cast<int64_t>(batch.size()) != batch_size_;
        });
    return batches;
}

int64_t GroupedBatchSampler::group_of(int64_t index) const {
    if (index < 0 || index >= static_cast<int64_t>(group_ids_.size()))
        throw UsageError("GroupedBatchSampler: the sampler gives index ", index,
                         " but there are ", group_ids_.size(),
                         " group_ids; give one for each sample of the dataset");
    return group_ids_[static_cast<size_t>(index)];
}

}  // namespace mini::data
