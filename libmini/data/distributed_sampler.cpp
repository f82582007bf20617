#include "libmini/data/distributed_sampler.hpp"

#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/core/log.hpp"
#include "libmini/data/replica.hpp"

// [lab09 file]
namespace mini::data {
namespace {

// Returns num_samples entries of a list of n entries: every P-th entry, starting at
// position `rank` and continuing at the start of the list after its end. entry(i) returns
// the entry at position i.
template <typename Entry>
std::vector<int64_t> take_share(int64_t n, World replica, int64_t num_samples,
                                const Entry& entry) {
    // [lab09.2] Start at the rank, step by the number of ranks, and wrap around the list.
    std::vector<int64_t> mine;
    mine.reserve(static_cast<size_t>(num_samples));
    const int64_t P = replica.size;
    int64_t position = replica.rank;
    for (int64_t k = 0; k < num_samples; ++k) {
        mine.push_back(entry(position < n ? position : position % n));
        position += P;
    }
    return mine;
    // [lab09.2]
}

}  // namespace

Generator epoch_generator(uint64_t seed, int64_t epoch) {
    // [lab09.3] Seed a generator with seed + epoch.
    return Generator(seed + static_cast<uint64_t>(epoch));
    // [lab09.3]
}

DistributedSampler::DistributedSampler(int64_t dataset_size,
                                       DistributedSamplerOptions options)
    : dataset_size_(dataset_size),
      options_(options),
      replica_(choose_replica("DistributedSampler", options.num_replicas, options.rank)) {
    if (dataset_size < 0)
        throw UsageError(concat("DistributedSampler: a dataset cannot have ",
                                dataset_size, " samples"));

    // [lab09.1] Give each rank equally many samples: round up, or down with drop_last.
    const bool round_up = dataset_size % replica_.size != 0 && !options.drop_last;
    num_samples_ = dataset_size / replica_.size + (round_up ? 1 : 0);
    // [lab09.1]
}

std::vector<int64_t> DistributedSampler::indices() {
    const int64_t n = dataset_size_;
    if (!options_.shuffle)
        return take_share(n, replica_, num_samples_, [](int64_t i) { return i; });

    if (epoch_used_ && !std::exchange(warned_, true))
        logging::warning("DistributedSampler: epoch ", epoch_,
                         " is given out again, in the same order; call "
                         "set_epoch(epoch) before each epoch");
    epoch_used_ = true;

    Generator generator = epoch_generator(options_.seed, epoch_);
    if (replica_.size == 1) return randperm(n, generator);  // all of it, without a copy

    // [lab09.3] Draw the same permutation on all ranks, and take this rank's share.
    const std::vector<uint32_t> order = randperm_u32(n, generator);
    return take_share(n, replica_, num_samples_,
                      [&](int64_t i) { return int64_t{order[static_cast<size_t>(i)]}; });
    // [lab09.3]
}

void DistributedSampler::set_epoch(int64_t epoch) {
    // [lab09.3] Select the permutation, and note that it has not been used yet.
    epoch_ = epoch;
    epoch_used_ = false;
    // [lab09.3]
}

}  // namespace mini::data
// [lab09 file]
