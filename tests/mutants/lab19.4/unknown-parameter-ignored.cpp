// A state of a larger model is loaded without an error.
    const auto own = renumbered(state, [&](size_t number) -> std::optional<size_t> {
        
        const auto found = std::ranges::find(indices, number);
        if (found == indices.end()) return std::nullopt;
        return static_cast<size_t>(found - indices.begin());
    });
    local_->load_state_dict(own);
    set_lr(local_->lr());
    consolidated_.reset();
