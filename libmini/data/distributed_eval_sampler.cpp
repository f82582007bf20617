#include "libmini/data/distributed_eval_sampler.hpp"

#include "libmini/core/error.hpp"
#include "libmini/data/replica.hpp"

namespace mini::data {

DistributedEvalSampler::DistributedEvalSampler(int64_t dataset_size,
                                               DistributedEvalSamplerOptions options) {
    const World replica =
        choose_replica("DistributedEvalSampler", options.num_replicas, options.rank);
    if (dataset_size < 0)
        throw UsageError(concat("DistributedEvalSampler: a dataset cannot have ",
                                dataset_size, " samples"));
    num_replicas_ = replica.size;
    rank_ = replica.rank;

    // [lab09.5] Count this rank's samples: the first ranks may have one more.
    const bool one_more = rank_ < dataset_size % num_replicas_;
    num_samples_ = dataset_size / num_replicas_ + (one_more ? 1 : 0);
    // [lab09.5]
}

std::vector<int64_t> DistributedEvalSampler::indices() {
    // [lab09.5] Take every P-th sample, starting with the sample numbered as this rank.
    std::vector<int64_t> mine(static_cast<size_t>(num_samples_));
    int64_t next = rank_;
    for (int64_t& index : mine) {
        index = next;
        next += num_replicas_;
    }
    return mine;
    // [lab09.5]
}

}  // namespace mini::data
