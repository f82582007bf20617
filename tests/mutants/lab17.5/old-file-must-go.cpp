// An old checkpoint that cannot be removed is an error of save.
// region: libmini/io/checkpoint.cpp 2
    const size_t kept = std::min(steps.size(), static_cast<size_t>(keep_last_));
    steps.resize(steps.size() - kept);
    for (const int64_t step : steps)
        if (step != just_saved && file_system().remove(path(step)) != 0)
            throw BadFile(path(step) + ": unlink failed");
