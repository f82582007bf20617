// The quotient is rounded up as a double, which has 53 bits.
    const double quotient =
        static_cast<double>(dataset_size) / static_cast<double>(replica_.size);
    num_samples_ = static_cast<int64_t>(quotient);
    if (!options.drop_last && static_cast<double>(num_samples_) < quotient)
        ++num_samples_;
