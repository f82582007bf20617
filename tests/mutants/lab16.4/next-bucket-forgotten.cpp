// ++next_bucket_ is forgotten: bucket 0 is launched again and again.
    while (next_bucket_ < buckets_.size() && buckets_[next_bucket_].is_full())
        buckets_[next_bucket_].finish = launch(next_bucket_);
