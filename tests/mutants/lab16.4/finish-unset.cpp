// The function that waits for the all-reduce is dropped.
    for (; next_bucket_ < buckets_.size() && buckets_[next_bucket_].is_full();
         ++next_bucket_)
        launch(next_bucket_);
