// The chunks differ by one row at most, as those of tensor_split.
// region: libmini/parallel/scatter_gather.cpp 2
    std::vector<int64_t> sizes;
    for (int64_t i = 0; i < chunks; ++i) {
        const int64_t rows = size / chunks + (i < size % chunks ? 1 : 0);
        if (rows > 0 || size == 0) sizes.push_back(rows);
    }
    return sizes;
