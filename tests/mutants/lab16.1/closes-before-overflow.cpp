// A bucket is closed before a tensor that would take it over its limit.
// region: libmini/parallel/bucket.cpp 1
    for (size_t i = 0; i < tensors.size(); ++i) {
        Open& open = open_by_dtype[tensors[i].dtype()];
        const auto bytes = static_cast<int64_t>(tensors[i].bytes());
        const int64_t limit = limits[std::min(open.closed, limits.size() - 1)];
        if (!open.indices.empty() && open.bytes + bytes > limit) {
            buckets.push_back(std::move(open.indices));
            open = {.indices = {}, .bytes = 0, .closed = open.closed + 1};
        }
        open.indices.push_back(i);
        open.bytes += bytes;
    }
    for (auto& [dtype, open] : open_by_dtype)
        if (!open.indices.empty()) buckets.push_back(std::move(open.indices));
