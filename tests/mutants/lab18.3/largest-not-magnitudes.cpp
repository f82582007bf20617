// The largest values are chosen, not the largest magnitudes.
// region: libmini/parallel/top_k.cpp 1
    std::vector<int64_t> indices(values.size());
    std::iota(indices.begin(), indices.end(), int64_t{0});
    const auto is_before = [&](int64_t a, int64_t b) {
        const float x = values[static_cast<size_t>(a)];
        const float y = values[static_cast<size_t>(b)];
        return x != y ? x > y : a < b;
    };
    const auto end = indices.begin() + static_cast<int64_t>(k);
    std::nth_element(indices.begin(), end, indices.end(), is_before);
    indices.resize(k);
    return indices;
