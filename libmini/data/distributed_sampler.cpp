#include "libmini/data/distributed_sampler.hpp"

#include <utility>

#include "libmini/core/log.hpp"
#include "libmini/data/replica.hpp"
#include "libmini/random/random.hpp"

// [lab09 file]
namespace mini::data {
namespace {

// Returns a permutation of 0 .. n-1, the same for equal arguments.
std::vector<uint32_t> epoch_order(int64_t n, uint64_t seed, int64_t epoch) {
    // [lab09.3] Draw the permutation of PyTorch's sampler.
    Generator generator(seed + static_cast<uint64_t>(epoch));
    return randperm_u32(n, generator);
    // [lab09.3]
}

}  // namespace

DistributedSampler::DistributedSampler(int64_t dataset_size,
                                       DistributedSamplerOptions options)
    : dataset_size_(dataset_size),
      options_(options),
      replica_(choose_replica("DistributedSampler", options.num_replicas, options.rank)) {
    check_dataset_size("DistributedSampler", dataset_size);

    // [lab09.1] Give each rank equally many samples: round up, or down with drop_last.
    const bool round_up = dataset_size % replica_.size != 0 && !options.drop_last;
    num_samples_ = dataset_size / replica_.size + (round_up ? 1 : 0);
    // [lab09.1]
}

std::vector<int64_t> DistributedSampler::indices() {
    std::vector<uint32_t> order;  // without shuffle it stays empty: place i has sample i
    if (options_.shuffle) {
        // [lab09.2] Make the order of the epoch, and warn if the epoch was used before.
        order = epoch_order(dataset_size_, options_.seed, epoch_);
        if (std::exchange(epoch_used_, true) && !std::exchange(warned_, true))
            logging::warning("DistributedSampler: epoch ", epoch_,
                             " is given out again, in the same order; call "
                             "set_epoch(epoch) before each epoch");
        // [lab09.2]
    }

    // [lab09.1] Take every P-th place of the list, starting at the place of this rank.
    std::vector<int64_t> mine;
    mine.reserve(static_cast<size_t>(num_samples_));
    int64_t place = replica_.rank;
    for (int64_t k = 0; k < num_samples_; ++k) {
        // A division for each sample would take longer than the rest of the loop.
        if (place >= dataset_size_) place %= dataset_size_;
        mine.push_back(order.empty() ? place : order[static_cast<size_t>(place)]);
        place += replica_.size;
    }
    return mine;
    // [lab09.1]
}

void DistributedSampler::set_epoch(int64_t epoch) {
    // [lab09.2] Choose the epoch, which has not been used yet.
    epoch_ = epoch;
    epoch_used_ = false;
    // [lab09.2]
}

}  // namespace mini::data
// [lab09 file]
