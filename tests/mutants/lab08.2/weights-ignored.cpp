// Every category is as likely as every other.
    std::vector<int64_t> samples(static_cast<size_t>(num_samples));
    for (int64_t& sample : samples)
        sample = static_cast<int64_t>(generator.uniform_double() *
                                      static_cast<double>(weights.size()));
    return samples;
