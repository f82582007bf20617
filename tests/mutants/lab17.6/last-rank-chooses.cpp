// The last rank's step is used.
// region: libmini/training/run_checkpoints.cpp 2
    const std::vector<int64_t> mine{found ? found->step : -1};
    const int64_t step = dist::all_gather_values(*group_, mine).back()[0];
    if (step == -1) return std::nullopt;
    on_all_ranks(*group_, [&] {
        if (!found) found = folder_->load(step);
    });
    return found;
