#include "libmini/data/distributed_sampler.hpp"

#include "libmini/core/error.hpp"
#include "libmini/core/log.hpp"

namespace mini::data {
namespace {

// Every P-th position from `rank` on, going round a list of n; entry(i) is what stands at
// position i of it.
template <typename Entry>
std::vector<int64_t> take_share(int64_t n, World replica, int64_t num_samples,
                                const Entry& entry) {
    std::vector<int64_t> mine;
    mine.reserve(static_cast<size_t>(num_samples));
    const int64_t P = replica.size;
    int64_t position = replica.rank;
    for (int64_t k = 0; k < num_samples; ++k) {
        mine.push_back(entry(position < n ? position : position % n));
        position += P;
    }
    return mine;
}

}  // namespace

World choose_replica(const std::string& who, std::optional<int> num_replicas,
                     std::optional<int> rank) {
    const std::optional<World> world = current_world();
    if (!world && (!num_replicas || !rank))
        throw UsageError(concat(who, ": ", num_replicas ? "rank" : "num_replicas",
                                " is not given and this thread belongs to no process "
                                "group; call init_process_group first, or give both "
                                "num_replicas and rank"));

    const int P = num_replicas ? *num_replicas : world->size;
    const int r = rank ? *rank : world->rank;
    if (P < 1)
        throw UsageError(concat(who, ": num_replicas is ", P, " but must be at least 1"));
    if (r < 0 || r >= P)
        throw UsageError(concat(who, ": rank ", r, " is not one of the ", P,
                                " replicas, 0 to ", P - 1));
    return {.rank = r, .size = P};
}

DistributedSampler::DistributedSampler(int64_t dataset_size,
                                       DistributedSamplerOptions options)
    : dataset_size_(dataset_size),
      options_(options),
      replica_(choose_replica("DistributedSampler", options.num_replicas, options.rank)) {
    if (dataset_size < 0)
        throw UsageError(concat("DistributedSampler: a dataset cannot have ",
                                dataset_size, " samples"));

    // Give every rank the same number: round up, or down when the tail is to be dropped.
    const bool round_up = dataset_size % replica_.size != 0 && !options.drop_last;
    num_samples_ = dataset_size / replica_.size + (round_up ? 1 : 0);
}

DistributedSampler::DistributedSampler(const Dataset& dataset,
                                       DistributedSamplerOptions options)
    : DistributedSampler(dataset.size(), options) {}

std::vector<int64_t> DistributedSampler::indices() {
    warn_of_forgotten_epoch();
    const int64_t n = dataset_size_;
    if (!options_.shuffle)
        return take_share(n, replica_, num_samples_, [](int64_t i) { return i; });

    // Permute the dataset alike on all ranks; a single one takes it all.
    Generator generator(options_.seed + static_cast<uint64_t>(epoch_));
    generator.set_version(default_generator().version());
    if (replica_.size == 1) return randperm(n, generator);

    const std::vector<uint32_t> order = randperm_u32(n, generator);
    return take_share(n, replica_, num_samples_,
                      [&](int64_t i) { return int64_t{order[static_cast<size_t>(i)]}; });
}

void DistributedSampler::set_epoch(int64_t epoch) {
    epoch_ = epoch;
    epoch_used_ = false;
}

void DistributedSampler::warn_of_forgotten_epoch() {
    if (options_.shuffle && epoch_used_ && !warned_) {
        logging::warning("DistributedSampler: epoch ", epoch_,
                         " is given out again, in the same order; call set_epoch(epoch) "
                         "before each epoch");
        warned_ = true;
    }
    epoch_used_ = true;
}

}  // namespace mini::data
