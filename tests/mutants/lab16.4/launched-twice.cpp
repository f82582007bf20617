// Each bucket is all-reduced twice.
    for (; next_bucket_ < buckets_.size() && buckets_[next_bucket_].is_full();
         ++next_bucket_) {
        launch(next_bucket_)();
        buckets_[next_bucket_].finish = launch(next_bucket_);
    }
