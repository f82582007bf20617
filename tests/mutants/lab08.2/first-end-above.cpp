// The first end > u is searched, so a draw at the end of a category is the next one's.
    std::vector<double> ends(weights.size());
    std::partial_sum(weights.begin(), weights.end(), ends.begin());
    const double total = ends.back();
    for (double& end : ends) end /= total;
    std::vector<int64_t> samples(static_cast<size_t>(num_samples));
    for (int64_t& sample : samples)
        sample = std::upper_bound(ends.begin(), ends.end(), generator.uniform_double()) -
                 ends.begin();
    return samples;
