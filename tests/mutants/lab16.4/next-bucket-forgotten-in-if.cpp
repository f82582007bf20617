// The first bucket is launched whenever another one is full.
    if (buckets_[next_bucket_].is_full())
        buckets_[next_bucket_].finish = launch(next_bucket_);
