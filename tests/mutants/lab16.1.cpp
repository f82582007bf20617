// --- buckets-and-tensors-reversed
// Each bucket is reversed too, but its limits were still met from the first tensor on.
// region: libmini/parallel/bucket.cpp 2
    auto assignment = compute_bucket_assignment(tensors, limits);
    std::ranges::reverse(assignment);
    for (auto& bucket : assignment) std::ranges::reverse(bucket);
    return assignment;

// --- buckets-reversed
// The buckets are reversed, not the tensors: other tensors share a bucket.
// region: libmini/parallel/bucket.cpp 2
    auto assignment = compute_bucket_assignment(tensors, limits);
    std::ranges::reverse(assignment);
    return assignment;

// --- closes-before-overflow
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

// --- dtypes-mixed
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

// --- first-limit-for-all
// The small first limit holds for every bucket.
// region: libmini/parallel/bucket.cpp 1
    for (size_t i = 0; i < tensors.size(); ++i) {
        Open& open = open_by_dtype[tensors[i].dtype()];
        open.indices.push_back(i);
        open.bytes += static_cast<int64_t>(tensors[i].bytes());

        if (open.bytes < limits.front()) continue;
        buckets.push_back(std::move(open.indices));
        open = {.indices = {}, .bytes = 0, .closed = open.closed + 1};
    }
    for (auto& [dtype, open] : open_by_dtype)
        if (!open.indices.empty()) buckets.push_back(std::move(open.indices));

// --- forward-bucket-order
// Buckets go from the first parameter on, whose gradients come last.
// region: libmini/parallel/bucket.cpp 2
    return compute_bucket_assignment(tensors, limits);

// --- index-off-by-one
// The last position becomes index 1: the indices are one too high.
// region: libmini/parallel/bucket.cpp 2
    const std::vector<Tensor> reversed(tensors.rbegin(), tensors.rend());
    auto assignment = compute_bucket_assignment(reversed, limits);
    for (auto& bucket : assignment)
        for (size_t& index : bucket) index = tensors.size() - index;
    return assignment;

// --- last-bucket-lost
// Tensors in a bucket that never reached its limit belong to none.
// region: libmini/parallel/bucket.cpp 1
    for (size_t i = 0; i < tensors.size(); ++i) {
        Open& open = open_by_dtype[tensors[i].dtype()];
        open.indices.push_back(i);
        open.bytes += static_cast<int64_t>(tensors[i].bytes());

        if (open.bytes < limits[std::min(open.closed, limits.size() - 1)]) continue;
        buckets.push_back(std::move(open.indices));
        open = {.indices = {}, .bytes = 0, .closed = open.closed + 1};
    }

// --- limits-shared-by-dtypes
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

// --- positions-taken-for-indices
// Position k of the reversed list is taken for tensor k.
// region: libmini/parallel/bucket.cpp 2
    const std::vector<Tensor> reversed(tensors.rbegin(), tensors.rend());
    return compute_bucket_assignment(reversed, limits);

// --- sorted-again
// Each bucket is sorted: its views would lie in forward order.
// region: libmini/parallel/bucket.cpp 2
    const std::vector<Tensor> reversed(tensors.rbegin(), tensors.rend());
    auto assignment = compute_bucket_assignment(reversed, limits);
    for (auto& bucket : assignment) {
        for (size_t& index : bucket) index = tensors.size() - 1 - index;
        std::ranges::sort(bucket);
    }
    return assignment;
