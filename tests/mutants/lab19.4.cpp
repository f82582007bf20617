// --- last-parameter-first
// Own parameters are counted from the last to the first.
    const auto own = renumbered(state, [&](size_t number) -> std::optional<size_t> {
        check_exists(number);
        const auto found = std::ranges::find(indices, number);
        if (found == indices.end()) return std::nullopt;
        return static_cast<size_t>(indices.end() - found) - 1;
    });
    local_->load_state_dict(own);
    set_lr(local_->lr());
    consolidated_.reset();

// --- learning-rate-kept
// The rate of the checkpoint is lost at the next step.
    const auto own = renumbered(state, [&](size_t number) -> std::optional<size_t> {
        check_exists(number);
        const auto found = std::ranges::find(indices, number);
        if (found == indices.end()) return std::nullopt;
        return static_cast<size_t>(found - indices.begin());
    });
    local_->load_state_dict(own);
    
    consolidated_.reset();

// --- numbers-of-the-whole-list
// Entries keep the numbers of the unsharded optimizer.
    const auto own = renumbered(state, [&](size_t number) -> std::optional<size_t> {
        check_exists(number);
        const auto found = std::ranges::find(indices, number);
        if (found == indices.end()) return std::nullopt;
        return number;
    });
    local_->load_state_dict(own);
    set_lr(local_->lr());
    consolidated_.reset();

// --- old-state-kept
// state_dict() still returns what was consolidated before.
    const auto own = renumbered(state, [&](size_t number) -> std::optional<size_t> {
        check_exists(number);
        const auto found = std::ranges::find(indices, number);
        if (found == indices.end()) return std::nullopt;
        return static_cast<size_t>(found - indices.begin());
    });
    local_->load_state_dict(own);
    set_lr(local_->lr());
    

// --- rank-0-only
// Only rank 0 loads the state, as only rank 0 has saved it.
    const auto own = renumbered(state, [&](size_t number) -> std::optional<size_t> {
        check_exists(number);
        const auto found = std::ranges::find(indices, number);
        if (found == indices.end()) return std::nullopt;
        return static_cast<size_t>(found - indices.begin());
    });
    if (group_->rank() == 0) local_->load_state_dict(own);
    set_lr(local_->lr());
    consolidated_.reset();

// --- rejected-state-forgets
// A state that local_ rejects costs the state that was collected before.
    const auto own = renumbered(state, [&](size_t number) -> std::optional<size_t> {
        check_exists(number);
        const auto found = std::ranges::find(indices, number);
        if (found == indices.end()) return std::nullopt;
        return static_cast<size_t>(found - indices.begin());
    });
    consolidated_.reset();
    local_->load_state_dict(own);
    set_lr(local_->lr());

// --- unknown-parameter-ignored
// A state of a larger model is loaded without an error.
    const auto own = renumbered(state, [&](size_t number) -> std::optional<size_t> {
        
        const auto found = std::ranges::find(indices, number);
        if (found == indices.end()) return std::nullopt;
        return static_cast<size_t>(found - indices.begin());
    });
    local_->load_state_dict(own);
    set_lr(local_->lr());
    consolidated_.reset();
