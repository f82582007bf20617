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
