#include "libmini/data/distributed_eval_sampler.hpp"

#include "libmini/data/replica.hpp"

// [lab09 file]
namespace mini::data {

DistributedEvalSampler::DistributedEvalSampler(int64_t dataset_size,
                                               DistributedEvalSamplerOptions options)
    : replica_(
          choose_replica("DistributedEvalSampler", options.num_replicas, options.rank)) {
    check_dataset_size("DistributedEvalSampler", dataset_size);

    // [lab09.5] Count this rank's samples: the first ranks may have one more.
    const bool one_more = replica_.rank < dataset_size % replica_.size;
    num_samples_ = dataset_size / replica_.size + (one_more ? 1 : 0);
    // [lab09.5]
}

std::vector<int64_t> DistributedEvalSampler::indices() {
    // [lab09.5] Take every P-th sample, starting with the sample numbered as this rank.
    std::vector<int64_t> mine(static_cast<size_t>(num_samples_));
    int64_t next = replica_.rank;
    for (int64_t& index : mine) {
        index = next;
        next += replica_.size;
    }
    return mine;
    // [lab09.5]
}

}  // namespace mini::data
// [lab09 file]
