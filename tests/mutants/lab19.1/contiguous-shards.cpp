// The list is cut into consecutive pieces of about equal size.
    int64_t total = 0, before = 0;
    for (const int64_t size : sizes) total += size;
    for (size_t i = 0; i < sizes.size(); ++i) {
        owners[i] = static_cast<int>(before * world_size / std::max(total, int64_t{1}));
        before += sizes[i];
    }
