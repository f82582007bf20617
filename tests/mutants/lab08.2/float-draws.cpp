// uniform_float() is drawn: one word and 24 bits.
    std::vector<double> ends(weights.size());
    std::partial_sum(weights.begin(), weights.end(), ends.begin());
    const double total = ends.back();
    for (double& end : ends) end /= total;
    const auto first = std::ranges::upper_bound(ends, 0.0);
    std::vector<int64_t> samples(static_cast<size_t>(num_samples));
    for (int64_t& sample : samples)
        sample = std::lower_bound(first, ends.end(), double{generator.uniform_float()}) -
                 ends.begin();
    return samples;
