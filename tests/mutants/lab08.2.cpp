// --- first-end-above
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

// --- float-draws
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

// --- one-number-for-all
// One uniform number is drawn, and all samples are the same category.
    std::vector<double> ends(weights.size());
    std::partial_sum(weights.begin(), weights.end(), ends.begin());
    const double total = ends.back();
    for (double& end : ends) end /= total;
    const auto first = std::ranges::upper_bound(ends, 0.0);
    const double u = generator.uniform_double();
    const int64_t sample = std::lower_bound(first, ends.end(), u) - ends.begin();
    return std::vector<int64_t>(static_cast<size_t>(num_samples), sample);

// --- weights-ignored
// Every category is as likely as every other.
    std::vector<int64_t> samples(static_cast<size_t>(num_samples));
    for (int64_t& sample : samples)
        sample = static_cast<int64_t>(generator.uniform_double() *
                                      static_cast<double>(weights.size()));
    return samples;

// --- weights-not-divided
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
