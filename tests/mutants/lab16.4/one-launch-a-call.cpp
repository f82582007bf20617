// `if` for `while`: a bucket that was full before its turn is never launched.
    if (next_bucket_ < buckets_.size() && buckets_[next_bucket_].is_full()) {
        buckets_[next_bucket_].finish = launch(next_bucket_);
        ++next_bucket_;
    }
