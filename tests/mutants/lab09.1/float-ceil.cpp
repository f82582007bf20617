// The quotient is rounded up as a float, which has 24 bits.
    const float quotient =
        static_cast<float>(dataset_size) / static_cast<float>(replica_.size);
    num_samples_ = static_cast<int64_t>(quotient);
    if (!options.drop_last && static_cast<float>(num_samples_) < quotient) ++num_samples_;
