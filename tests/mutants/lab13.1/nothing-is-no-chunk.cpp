// A batch without rows has no chunk at all.
// region: libmini/parallel/scatter_gather.cpp 2
    const int64_t most = (size + chunks - 1) / chunks;
    std::vector<int64_t> sizes;
    for (int64_t start = 0; start < size; start += most)
        sizes.push_back(std::min(most, size - start));
    return sizes;
