// --- ends-before-it-begins
// The end of any collective ends the first bucket.
// region: libmini/training/statistics.cpp 1
        const auto next = std::ranges::find(reductions_, 0, &Reduction::begin);
        const auto open = std::ranges::find(reductions_, 0, &Reduction::end);
        if (event.kind == EventKind::kBucketReady) full_[event.index] = event.nanoseconds;
        if (event.kind == EventKind::kBucketLaunch)
            reductions_.push_back({.bucket = event.index,
                                   .bytes = event.bytes,
                                   .ready = full_[event.index]});
        if (event.kind == EventKind::kCollectiveBegin && next != reductions_.end())
            next->begin = event.nanoseconds;
        if (event.kind == EventKind::kCollectiveEnd && open != reductions_.end())
            open->end = event.nanoseconds;

// --- first-gradient
// A bucket is ready with its first gradient.
// region: libmini/extras/scaling/bucket_timeline.cpp 2
for (size_t i = 0; i < buckets.size(); ++i)
    for (const size_t index : buckets[i])
        queue.at(dist::virtual_time(gradients[index].ready), 0, [&, i, index] {
            times[i].bytes += gradients[index].bytes;
            if (times[i].ready == 0) times[i].ready = now();
            if (--missing[i] == 0) serve();
        });

// --- first-ready-stays
// The time at which a bucket was ready first is never replaced.
// region: libmini/training/statistics.cpp 1
        const auto next = std::ranges::find(reductions_, 0, &Reduction::begin);
        const auto open = std::ranges::find(reductions_, 0, &Reduction::end);
        if (event.kind == EventKind::kBucketReady)
            full_.emplace(event.index, event.nanoseconds);
        if (event.kind == EventKind::kBucketLaunch)
            reductions_.push_back({.bucket = event.index,
                                   .bytes = event.bytes,
                                   .ready = full_[event.index]});
        if (event.kind == EventKind::kCollectiveBegin && next != reductions_.end())
            next->begin = event.nanoseconds;
        if (event.kind == EventKind::kCollectiveEnd && open != next)
            open->end = event.nanoseconds;

// --- lane-never-busy
// All-reduces overlap on the lane.
// region: libmini/extras/scaling/bucket_timeline.cpp 1
if (next == buckets.size() || missing[next] > 0) return;
is_busy = true;
times[next].begin = now();
const double seconds = all_reduce_seconds(times[next].bytes);
queue.at(queue.now() + dist::virtual_time(seconds), 0, [&] {
    times[next++].end = now();
    is_busy = false;
    serve();
});

// --- last-launched-begins
// A collective that begins is taken for the bucket launched last.
// region: libmini/training/statistics.cpp 1
        const auto next = std::ranges::find(reductions_, 0, &Reduction::begin);
        const auto open = std::ranges::find(reductions_, 0, &Reduction::end);
        if (event.kind == EventKind::kBucketReady) full_[event.index] = event.nanoseconds;
        if (event.kind == EventKind::kBucketLaunch)
            reductions_.push_back({.bucket = event.index,
                                   .bytes = event.bytes,
                                   .ready = full_[event.index]});
        if (event.kind == EventKind::kCollectiveBegin && !reductions_.empty())
            reductions_.back().begin = event.nanoseconds;
        if (event.kind == EventKind::kCollectiveEnd && open != next)
            open->end = event.nanoseconds;

// --- next-not-served
// When an all-reduce ends, the bucket that waits is not tried.
// region: libmini/extras/scaling/bucket_timeline.cpp 1
if (is_busy || next == buckets.size() || missing[next] > 0) return;
is_busy = true;
times[next].begin = now();
const double seconds = all_reduce_seconds(times[next].bytes);
queue.at(queue.now() + dist::virtual_time(seconds), 0, [&] {
    times[next++].end = now();
    is_busy = false;
});

// --- not-full-yet
// A bucket is sent before its last gradient.
// region: libmini/extras/scaling/bucket_timeline.cpp 1
if (is_busy || next == buckets.size()) return;
is_busy = true;
times[next].begin = now();
const double seconds = all_reduce_seconds(times[next].bytes);
queue.at(queue.now() + dist::virtual_time(seconds), 0, [&] {
    times[next++].end = now();
    is_busy = false;
    serve();
});

// --- ready-at-the-launch
// A bucket counts as ready when it is launched.
// region: libmini/training/statistics.cpp 1
        const auto next = std::ranges::find(reductions_, 0, &Reduction::begin);
        const auto open = std::ranges::find(reductions_, 0, &Reduction::end);
        if (event.kind == EventKind::kBucketReady) full_[event.index] = event.nanoseconds;
        if (event.kind == EventKind::kBucketLaunch)
            reductions_.push_back({.bucket = event.index,
                                   .bytes = event.bytes,
                                   .ready = event.nanoseconds});
        if (event.kind == EventKind::kCollectiveBegin && next != reductions_.end())
            next->begin = event.nanoseconds;
        if (event.kind == EventKind::kCollectiveEnd && open != next)
            open->end = event.nanoseconds;
