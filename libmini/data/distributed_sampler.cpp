#include "libmini/data/distributed_sampler.hpp"

#include <numeric>

#include "libmini/core/error.hpp"

namespace mini::data {

DistributedSampler::DistributedSampler(int64_t dataset_size,
                                       DistributedSamplerOptions options)
    : dataset_size_(dataset_size), options_(options) {
    const int P = options.num_replicas;
    if (dataset_size < 0)
        throw UsageError(concat("DistributedSampler: a dataset cannot have ",
                                dataset_size, " samples"));
    if (P < 1)
        throw UsageError(
            concat("DistributedSampler: num_replicas is ", P, " but must be at least 1"));
    if (options.rank < 0 || options.rank >= P)
        throw UsageError(concat("DistributedSampler: rank ", options.rank,
                                " is not one of the ", P, " replicas, 0 to ", P - 1));

    // Give every rank the same number: round up, or down when the tail is to be dropped.
    const bool round_up = dataset_size % P != 0 && !options.drop_last;
    num_samples_ = dataset_size / P + (round_up ? 1 : 0);
    total_size_ = num_samples_ * P;
}

std::vector<int64_t> DistributedSampler::indices() {
    // Permute the dataset alike on all ranks.
    std::vector<int64_t> order;
    if (options_.shuffle) {
        Generator generator(options_.seed + static_cast<uint64_t>(epoch_));
        order = randperm(dataset_size_, generator);
    } else {
        order.resize(static_cast<size_t>(dataset_size_));
        std::iota(order.begin(), order.end(), int64_t{0});
    }

    // Take every P-th; past the end, start again from the front.
    std::vector<int64_t> mine;
    mine.reserve(static_cast<size_t>(num_samples_));
    for (int64_t i = options_.rank; i < total_size_; i += options_.num_replicas)
        mine.push_back(order[static_cast<size_t>(i % dataset_size_)]);
    return mine;
}

}  // namespace mini::data
