// Nothing is launched before the last bucket is full: nothing overlaps.
    for (const Bucket& bucket : buckets_)
        if (!bucket.is_full()) return;
    for (; next_bucket_ < buckets_.size() && buckets_[next_bucket_].is_full();
         ++next_bucket_) {
        Bucket& bucket = buckets_[next_bucket_];
        group_->events().record(EventKind::kBucketLaunch,
                                static_cast<int64_t>(next_bucket_), bucket.bytes());
        bucket.finish = launch(next_bucket_);
    }
