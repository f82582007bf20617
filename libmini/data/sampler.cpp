#include "libmini/data/sampler.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "libmini/core/error.hpp"

namespace mini::data {
namespace {

int64_t checked_size(const char* who, int64_t dataset_size) {
    if (dataset_size < 0)
        throw UsageError(
            concat(who, ": a dataset cannot have ", dataset_size, " samples"));
    return dataset_size;
}

}  // namespace

SequentialSampler::SequentialSampler(int64_t dataset_size)
    : dataset_size_(checked_size("SequentialSampler", dataset_size)) {}

std::vector<int64_t> SequentialSampler::indices() {
    std::vector<int64_t> order(static_cast<size_t>(dataset_size_));
    std::iota(order.begin(), order.end(), int64_t{0});
    return order;
}

int64_t SequentialSampler::size() const { return dataset_size_; }

RandomSampler::RandomSampler(int64_t dataset_size)
    : dataset_size_(checked_size("RandomSampler", dataset_size)) {}

std::vector<int64_t> RandomSampler::indices() {
    Generator generator(static_cast<uint64_t>(default_generator().random_int64()));
    return randperm(dataset_size_, generator);
}

int64_t RandomSampler::size() const { return dataset_size_; }

BatchSampler::BatchSampler(std::shared_ptr<Sampler> sampler, int64_t batch_size,
                           bool drop_last)
    : sampler_(std::move(sampler)), batch_size_(batch_size), drop_last_(drop_last) {
    if (!sampler_) throw UsageError("BatchSampler: no sampler was given");
    if (batch_size < 1)
        throw UsageError(concat("BatchSampler: batch_size is ", batch_size,
                                " but must be at least 1"));
}

std::vector<std::vector<int64_t>> BatchSampler::batches() {
    const std::vector<int64_t> order = sampler_->indices();
    const int64_t n = static_cast<int64_t>(order.size());

    // Cut the order into runs of batch_size; the last run may be shorter.
    std::vector<std::vector<int64_t>> batches;
    for (int64_t begin = 0; begin < n;) {
        const int64_t length =
            std::min(batch_size_, n - begin);  // begin + batch_size may overflow
        if (length == batch_size_ || !drop_last_)
            batches.emplace_back(order.begin() + begin, order.begin() + begin + length);
        begin += length;
    }
    return batches;
}

int64_t BatchSampler::size() const {
    const int64_t n = sampler_->size();
    const bool has_short_batch = n % batch_size_ != 0;
    return n / batch_size_ + (has_short_batch && !drop_last_ ? 1 : 0);
}

}  // namespace mini::data
