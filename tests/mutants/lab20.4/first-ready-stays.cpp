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
