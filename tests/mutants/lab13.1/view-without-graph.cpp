// The rows are cut by ops::narrow, which records nothing.
// region: libmini/parallel/scatter_gather.cpp 3
    std::vector<Tensor> chunks;
    int64_t start = 0;
    for (const int64_t rows :
         chunk_sizes(x.size(0), static_cast<int64_t>(devices.size()))) {
        const Tensor chunk = ops::narrow(x, 0, start, rows);
        chunks.push_back(to_device(chunk, x.device(), devices[chunks.size()], stats));
        start += rows;
    }
    return chunks;
