// The all-reduce is started without launch(), so that the log does not have it.
    for (; next_bucket_ < buckets_.size() && buckets_[next_bucket_].is_full();
         ++next_bucket_)
        buckets_[next_bucket_].finish =
            [work = group_->all_reduce_async(buckets_[next_bucket_].buffer())] {
                work->wait();
            };
