// The backward pass stops until the all-reduce is through: nothing overlaps.
    for (; next_bucket_ < buckets_.size() && buckets_[next_bucket_].is_full();
         ++next_bucket_) {
        launch(next_bucket_)();
        buckets_[next_bucket_].finish = [] {};
    }
