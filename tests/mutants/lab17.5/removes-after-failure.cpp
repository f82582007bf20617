// Old checkpoints are removed even if the new one failed.
// region: libmini/io/checkpoint.cpp 1
    try {
        save_safetensors(path(step), contents.tensors, contents.metadata);
    } catch (const BadFile&) {
        for (const int64_t old : list()) remove_or_warn(path(old));
        throw;
    }
    remove_old(step);
