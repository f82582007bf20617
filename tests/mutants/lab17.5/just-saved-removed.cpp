// The checkpoint just saved is removed if damaged ones have higher steps.
// region: libmini/io/checkpoint.cpp 2
    const size_t kept = std::min(steps.size(), static_cast<size_t>(keep_last_));
    steps.resize(steps.size() - kept);
    for (const int64_t step : steps) remove_or_warn(path(step));
