// Tensors of all dtypes share the buckets.
// region: libmini/parallel/bucket.cpp 1
    for (size_t i = 0; i < tensors.size(); ++i) {
        Open& open = open_by_dtype[DType::kFloat32];
        open.indices.push_back(i);
        open.bytes += static_cast<int64_t>(tensors[i].bytes());

        if (open.bytes < limits[std::min(open.closed, limits.size() - 1)]) continue;
        buckets.push_back(std::move(open.indices));
        open = {.indices = {}, .bytes = 0, .closed = open.closed + 1};
    }
    for (auto& [dtype, open] : open_by_dtype)
        if (!open.indices.empty()) buckets.push_back(std::move(open.indices));
