// The backward pass stops until the all-reduce is through: nothing overlaps.
    for (; next_bucket_ < buckets_.size() && buckets_[next_bucket_].is_full();
         ++next_bucket_) {
        Bucket& bucket = buckets_[next_bucket_];
        group_->events().record(EventKind::kBucketLaunch,
                                static_cast<int64_t>(next_bucket_), bucket.bytes());
        launch(next_bucket_)();
        bucket.finish = [] {};
    }
