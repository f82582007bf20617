// A bucket of one dtype uses up a limit of another.
// region: libmini/parallel/bucket.cpp 1
    for (size_t i = 0; i < tensors.size(); ++i) {
        Open& open = open_by_dtype[tensors[i].dtype()];
        open.indices.push_back(i);
        open.bytes += static_cast<int64_t>(tensors[i].bytes());

        if (open.bytes < limits[std::min(buckets.size(), limits.size() - 1)]) continue;
        buckets.push_back(std::move(open.indices));
        open = {.indices = {}, .bytes = 0, .closed = open.closed + 1};
    }
    for (auto& [dtype, open] : open_by_dtype)
        if (!open.indices.empty()) buckets.push_back(std::move(open.indices));
