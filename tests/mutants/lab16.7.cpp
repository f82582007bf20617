// --- average-to-rank-0
// Only rank 0 gets the average of what it has not used.
    for (size_t index = 0; index < states_.size(); ++index) {
        State& state = states_[index];
        if (!use.empty()) state.used_somewhere = use[index] > 0;
        if (group_.rank() == 0 && state.unused && state.used_somewhere)
            indices.push_back(index);
    }

// --- unused-by-all-zeroed
// A parameter that no rank has used gets zeros, and momentum still moves it.
    static_cast<void>(use);
    for (size_t index = 0; index < states_.size(); ++index)
        if (states_[index].unused) indices.push_back(index);

// --- unused-here-left-alone
// A rank that has not used a parameter keeps its own gradient, and the replicas part.
    static_cast<void>(use);

// --- use-ignored
// `use` is never read: every unused parameter gets zeros.
    static_cast<void>(use);
    for (size_t index = 0; index < states_.size(); ++index) {
        const State& state = states_[index];
        if (state.unused && state.used_somewhere) indices.push_back(index);
    }

// --- use-not-remembered
// Once a static graph is known and `use` is empty, nothing is handed out any more.
    if (use.empty()) return indices;
    for (size_t index = 0; index < states_.size(); ++index)
        if (states_[index].unused && use[index] > 0)
            indices.push_back(index);

// --- use-read-when-empty
// `use` is read in each pass, also where it is empty.
    for (size_t index = 0; index < states_.size(); ++index)
        if (use[index] > 0) indices.push_back(index);

// --- used-by-all-only
// Only what every rank has used counts as used.
    for (size_t index = 0; index < states_.size(); ++index) {
        State& state = states_[index];
        if (!use.empty()) state.used_somewhere = use[index] == group_.world_size();
        if (state.unused && state.used_somewhere) indices.push_back(index);
    }
