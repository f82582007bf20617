// Full buckets stay where they are.
    static_cast<void>(next_bucket_);
