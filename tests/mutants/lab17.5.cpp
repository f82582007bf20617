// --- just-saved-removed
// The checkpoint just saved is removed if damaged ones have higher steps.
// region: libmini/io/checkpoint.cpp 2
    const size_t kept = std::min(steps.size(), static_cast<size_t>(keep_last_));
    steps.resize(steps.size() - kept);
    for (const int64_t step : steps) remove_or_warn(path(step));

// --- metadata-forgotten
// The metadata of a checkpoint are not saved.
// region: libmini/io/checkpoint.cpp 1
    save_safetensors(path(step), contents.tensors);
    remove_old(step);

// --- newest-only
// Only the highest step is tried.
// region: libmini/io/checkpoint.cpp 3
    return load(steps.back());

// --- newest-removed
// The highest steps are removed, the lowest kept.
// region: libmini/io/checkpoint.cpp 2
    for (size_t i = static_cast<size_t>(keep_last_); i < steps.size(); ++i)
        if (steps[i] != just_saved) remove_or_warn(path(steps[i]));

// --- nothing-if-all-damaged
// A folder of damaged checkpoints counts as empty.
// region: libmini/io/checkpoint.cpp 3
    for (; !steps.empty(); steps.pop_back()) {
        try {
            return load(steps.back());
        } catch (const BadFile& error) {
            logging::warning("skipping a checkpoint: ", error.what());
        }
    }
    return std::nullopt;

// --- nothing-removed
// No checkpoint is ever removed.
// region: libmini/io/checkpoint.cpp 1
    save_safetensors(path(step), contents.tensors, contents.metadata);

// --- old-file-must-go
// An old checkpoint that cannot be removed is an error of save.
// region: libmini/io/checkpoint.cpp 2
    const size_t kept = std::min(steps.size(), static_cast<size_t>(keep_last_));
    steps.resize(steps.size() - kept);
    for (const int64_t step : steps)
        if (step != just_saved && file_system().remove(path(step)) != 0)
            throw BadFile(path(step) + ": unlink failed");

// --- removes-after-failure
// Old checkpoints are removed even if the new one failed.
// region: libmini/io/checkpoint.cpp 1
    try {
        save_safetensors(path(step), contents.tensors, contents.metadata);
    } catch (const BadFile&) {
        for (const int64_t old : list()) remove_or_warn(path(old));
        throw;
    }
    remove_old(step);

// --- removes-first
// Old checkpoints are removed before the new one is written.
// region: libmini/io/checkpoint.cpp 1
    const std::vector<int64_t> before = list();
    for (size_t i = 0; i + 1 < before.size() + 1; ++i)
        if (before[i] != step && static_cast<int>(before.size() - i) >= keep_last_)
            remove_or_warn(path(before[i]));
    save_safetensors(path(step), contents.tensors, contents.metadata);
    remove_old(step);

// --- skipped-silently
// A damaged checkpoint is skipped without a warning.
// region: libmini/io/checkpoint.cpp 3
    for (; !steps.empty(); steps.pop_back()) {
        try {
            return load(steps.back());
        } catch (const BadFile&) {
        }
    }
