// --- all-at-the-end
// Nothing is launched before the last bucket is full: nothing overlaps.
    for (const Bucket& bucket : buckets_.all())
        if (!bucket.is_full()) return;
    for (; next_bucket_ < buckets_.size() && buckets_[next_bucket_].is_full();
         ++next_bucket_)
        buckets_[next_bucket_].finish = launch(next_bucket_);

// --- finish-unset
// The function that waits for the all-reduce is dropped.
    for (; next_bucket_ < buckets_.size() && buckets_[next_bucket_].is_full();
         ++next_bucket_)
        launch(next_bucket_);

// --- launch-left-out
// The all-reduce is started without launch(), so that the log does not have it.
    for (; next_bucket_ < buckets_.size() && buckets_[next_bucket_].is_full();
         ++next_bucket_)
        buckets_[next_bucket_].finish =
            [work = group_->all_reduce_async(buckets_[next_bucket_].buffer())] {
                work->wait();
            };

// --- launched-twice
// Each bucket is all-reduced twice.
    for (; next_bucket_ < buckets_.size() && buckets_[next_bucket_].is_full();
         ++next_bucket_) {
        launch(next_bucket_)();
        buckets_[next_bucket_].finish = launch(next_bucket_);
    }

// --- next-bucket-forgotten-in-if
// The first bucket is launched whenever another one is full.
    if (buckets_[next_bucket_].is_full())
        buckets_[next_bucket_].finish = launch(next_bucket_);

// --- next-bucket-forgotten
// ++next_bucket_ is forgotten: bucket 0 is launched again and again.
    while (next_bucket_ < buckets_.size() && buckets_[next_bucket_].is_full())
        buckets_[next_bucket_].finish = launch(next_bucket_);

// --- nothing-launched
// Full buckets stay where they are.
    static_cast<void>(next_bucket_);

// --- one-launch-a-call
// `if` for `while`: a bucket that was full before its turn is never launched.
    if (next_bucket_ < buckets_.size() && buckets_[next_bucket_].is_full()) {
        buckets_[next_bucket_].finish = launch(next_bucket_);
        ++next_bucket_;
    }

// --- ready-order
// A bucket is launched when it is full on this rank, whatever the others do.
    for (size_t index = 0; index < buckets_.size(); ++index) {
        Bucket& bucket = buckets_[index];
        if (!bucket.is_full() || bucket.finish) continue;
        bucket.finish = launch(index);
        ++next_bucket_;
    }

// --- waits-at-once
// The backward pass stops until the all-reduce is through: nothing overlaps.
    for (; next_bucket_ < buckets_.size() && buckets_[next_bucket_].is_full();
         ++next_bucket_) {
        launch(next_bucket_)();
        buckets_[next_bucket_].finish = [] {};
    }
