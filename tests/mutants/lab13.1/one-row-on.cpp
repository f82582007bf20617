// The next chunk begins one row further on, not one chunk.
// region: libmini/parallel/scatter_gather.cpp 3
    std::vector<Tensor> chunks;
    int64_t start = 0;
    for (const int64_t rows :
         chunk_sizes(x.size(0), static_cast<int64_t>(devices.size()))) {
        const Tensor chunk = narrow(x, 0, start, rows);
        chunks.push_back(to_device(chunk, x.device(), devices[chunks.size()], stats));
        ++start;
    }
    return chunks;
