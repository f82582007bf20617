// The quotient is rounded down, and the last chunk has all that is left.
// region: libmini/parallel/scatter_gather.cpp 2
    if (size == 0) return std::vector<int64_t>(static_cast<size_t>(chunks), 0);
    const int64_t least = std::max<int64_t>(size / chunks, 1);
    std::vector<int64_t> sizes;
    for (int64_t start = 0; start < size && std::ssize(sizes) < chunks; start += least)
        sizes.push_back(least);
    if (size > least * chunks) sizes.back() += size - least * chunks;
    return sizes;
