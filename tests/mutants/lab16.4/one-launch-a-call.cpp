// A bucket that was full before its turn is never launched.
    if (next_bucket_ < buckets_.size() && buckets_[next_bucket_].is_full()) {
        Bucket& bucket = buckets_[next_bucket_];
        group_->events().record(EventKind::kBucketLaunch,
                                static_cast<int64_t>(next_bucket_), bucket.bytes());
        bucket.finish = launch(next_bucket_++);
    }
