#include "labs/20-scaling-by-simulation/prediction.hpp"

#include <algorithm>
#include <numeric>

#include "labs/20-scaling-by-simulation/stragglers.hpp"

// [lab20 file]
namespace mini::lab20 {

std::vector<training::BucketTime> bucket_timeline(
    const std::vector<training::GradientTime>& gradients, const BucketIndices& buckets,
    const AllReduceSeconds& all_reduce_seconds) {
    std::vector<training::BucketTime> times;
    double idle = 0;  // from when on the thread has no all-reduce to do
    for (const std::vector<size_t>& indices : buckets) {
        training::BucketTime bucket;
        // [lab20.4] Wait for the last gradient, then for the bucket before this one.
        for (const size_t index : indices) {
            bucket.bytes += gradients[index].bytes;
            bucket.ready = std::max(bucket.ready, gradients[index].ready);
        }
        bucket.begin = std::max(bucket.ready, idle);
        bucket.end = bucket.begin + all_reduce_seconds(bucket.bytes);
        idle = bucket.end;
        // [lab20.4]
        times.push_back(bucket);
    }
    return times;
}

namespace {

// Returns the mean time of a step in which a rank waits for the slowest of P ranks, less
// the mean of one rank.
double wait_for_slowest(const std::vector<double>& compute, int P) {
    return expected_maximum(compute, P) -
           std::accumulate(compute.begin(), compute.end(), 0.0) /
               static_cast<double>(compute.size());
}

// Returns the row "ddp" without the wait.
Prediction with_buckets(const Computation& rank,
                        const std::vector<training::BucketTime>& times) {
    Prediction ddp{.sync = "ddp"};
    // [lab20.6] End with backward or the last bucket; what lies before that is hidden.
    double end = rank.backward, hidden = 0;
    for (const training::BucketTime& bucket : times) {
        end = std::max(end, bucket.end);
        ddp.all_reduces += bucket.end - bucket.begin;
        hidden += std::max(0.0, std::min(bucket.end, rank.backward) - bucket.begin);
    }
    ddp.step = rank.others + rank.forward + end;
    if (ddp.all_reduces > 0) ddp.hidden = hidden / ddp.all_reduces;
    // [lab20.6]
    return ddp;
}

}  // namespace

std::vector<Prediction> predict(const Computation& rank, int P,
                                const BucketIndices& buckets,
                                const AllReduceSeconds& all_reduce_seconds) {
    const double wait = wait_for_slowest(rank.compute, P);
    Prediction none{.sync = "none", .step = rank.step()};
    Prediction average{.sync = "average"}, flat{.sync = "flat"};
    // [lab20.6] Add the wait and the all-reduces: one for each gradient, or one for all.
    int64_t bytes = 0;
    for (const training::GradientTime& gradient : rank.gradients) {
        average.all_reduces += all_reduce_seconds(gradient.bytes);
        bytes += gradient.bytes;
    }
    flat.all_reduces = all_reduce_seconds(bytes);
    for (Prediction* const row : {&average, &flat})
        row->step = rank.step() + wait + row->all_reduces;
    // [lab20.6]
    Prediction ddp =
        with_buckets(rank, bucket_timeline(rank.gradients, buckets, all_reduce_seconds));
    ddp.step += wait;
    return {none, average, flat, ddp};
}

}  // namespace mini::lab20
// [lab20 file]
