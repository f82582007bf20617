// Each rank loads the newest checkpoint that it sees itself.
// region: libmini/training/run_checkpoints.cpp 2
    on_all_ranks(*group_, [&] { found = folder_->latest(); });
    return found;
