// A bucket is launched when it is full on this rank, whatever the others do.
    for (size_t index = 0; index < buckets_.size(); ++index) {
        Bucket& bucket = buckets_[index];
        if (!bucket.is_full() || bucket.finish) continue;
        bucket.finish = launch(index);
        ++next_bucket_;
    }
