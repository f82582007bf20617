#include "labs/20-scaling-by-simulation/bucket_timeline.hpp"

#include <algorithm>

#include "libmini/core/error.hpp"
#include "libmini/extras/simulation/event_queue.hpp"
#include "libmini/parallel/bucket.hpp"
#include "libmini/parallel/ddp_options.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::lab20 {
namespace {

static_assert(kFirstBucketMb * parallel::kBytesPerMib == parallel::kFirstBucketBytes);

// Returns a size limit in bytes, at least 1.
int64_t limit_of(double mb) {
    return std::max(int64_t{1}, static_cast<int64_t>(mb * parallel::kBytesPerMib));
}

}  // namespace

BucketIndices assign_buckets(const std::vector<training::GradientTime>& gradients,
                             double cap_mb, double first_mb) {
    std::vector<Tensor> sizes;  // memory that no code reads or writes
    for (const training::GradientTime& gradient : gradients)
        sizes.push_back(
            Tensor::empty({gradient.bytes / static_cast<int64_t>(sizeof(float))}));
    return parallel::compute_bucket_assignment(
        sizes, {limit_of(std::min(first_mb, cap_mb)), limit_of(cap_mb)});
}

std::vector<training::BucketTime> bucket_timeline(
    const std::vector<training::GradientTime>& gradients, const BucketIndices& buckets,
    const AllReduceSeconds& all_reduce_seconds) {
    dist::EventQueue queue;
    std::vector<training::BucketTime> times(buckets.size());
    std::vector<size_t> missing;  // gradients of each bucket that are not ready
    for (const auto& indices : buckets) missing.push_back(indices.size());
    const auto now = [&] { return dist::seconds_of(queue.now()); };

    // Begins the next bucket's all-reduce if the bucket is ready and the lane is free.
    size_t next = 0;
    bool is_busy = false;
    std::function<void()> serve = [&] {
        // [lab20.4] Begin the next all-reduce; when it ends, try the bucket after it.
        if (is_busy || next == buckets.size() || missing[next] > 0) return;
        is_busy = true;
        times[next].begin = now();
        const double seconds = all_reduce_seconds(times[next].bytes);
        queue.at(queue.now() + dist::virtual_time(seconds), 0, [&] {
            times[next++].end = now();
            is_busy = false;
            serve();
        });
        // [lab20.4]
    };

    // [lab20.4] Add an event for each gradient: it may be the last one of its bucket.
    for (size_t i = 0; i < buckets.size(); ++i)
        for (const size_t index : buckets[i])
            queue.at(dist::virtual_time(gradients[index].ready), 0, [&, i, index] {
                times[i].bytes += gradients[index].bytes;
                times[i].ready = now();
                if (--missing[i] == 0) serve();
            });
    // [lab20.4]
    while (queue.run_next()) {
    }
    return times;
}

}  // namespace mini::lab20
