// The running sums are not divided by the total.
    std::vector<double> ends(weights.size());
    std::partial_sum(weights.begin(), weights.end(), ends.begin());
    const auto first = std::ranges::upper_bound(ends, 0.0);
    std::vector<int64_t> samples(static_cast<size_t>(num_samples));
    for (int64_t& sample : samples)
        sample = std::min(std::lower_bound(first, ends.end(), generator.uniform_double()),
                          ends.end() - 1) -
                 ends.begin();
    return samples;
