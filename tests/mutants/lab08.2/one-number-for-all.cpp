// One uniform number is drawn, and all samples are the same category.
    std::vector<double> ends(weights.size());
    std::partial_sum(weights.begin(), weights.end(), ends.begin());
    const double total = ends.back();
    for (double& end : ends) end /= total;
    const auto first = std::ranges::upper_bound(ends, 0.0);
    const double u = generator.uniform_double();
    const int64_t sample = std::lower_bound(first, ends.end(), u) - ends.begin();
    return std::vector<int64_t>(static_cast<size_t>(num_samples), sample);
