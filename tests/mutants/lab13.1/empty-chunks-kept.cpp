// A device without rows gets an empty chunk.
// region: libmini/parallel/scatter_gather.cpp 2
    const int64_t most = (size + chunks - 1) / chunks;
    std::vector<int64_t> sizes;
    for (int64_t i = 0; i < chunks; ++i)
        sizes.push_back(std::clamp<int64_t>(size - i * most, 0, most));
    return sizes;
