// Nothing is launched before the last bucket is full: nothing overlaps.
    for (const Bucket& bucket : buckets_)
        if (!bucket.is_full()) return;
    for (; next_bucket_ < buckets_.size() && buckets_[next_bucket_].is_full();
         ++next_bucket_)
        buckets_[next_bucket_].finish = launch(next_bucket_);
