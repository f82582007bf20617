// The other ranks load nothing.
// region: libmini/training/run_checkpoints.cpp 2
    const std::vector<int64_t> mine{found ? found->step : -1};
    const int64_t step = dist::all_gather_values(*group_, mine)[0][0];
    if (step == -1 || !found) return std::nullopt;
    return found;
