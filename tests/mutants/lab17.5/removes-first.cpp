// Old checkpoints are removed before the new one is written.
// region: libmini/io/checkpoint.cpp 1
    const std::vector<int64_t> before = list();
    for (size_t i = 0; i + 1 < before.size() + 1; ++i)
        if (before[i] != step && static_cast<int>(before.size() - i) >= keep_last_)
            remove_or_warn(path(before[i]));
    save_safetensors(path(step), contents.tensors, contents.metadata);
    remove_old(step);
