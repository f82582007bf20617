// The last chunk is as long as the others, beyond the end of the batch.
// region: libmini/parallel/scatter_gather.cpp 2
    if (size == 0) return std::vector<int64_t>(static_cast<size_t>(chunks), 0);
    const int64_t most = (size + chunks - 1) / chunks;
    std::vector<int64_t> sizes;
    for (int64_t start = 0; start < size; start += most) sizes.push_back(most);
    return sizes;
