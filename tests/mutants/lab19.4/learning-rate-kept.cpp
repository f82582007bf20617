// The rate of the checkpoint is lost at the next step.
    const auto own = renumbered(state, [&](size_t number) -> std::optional<size_t> {
        check_exists(number);
        const auto found = std::ranges::find(indices, number);
        if (found == indices.end()) return std::nullopt;
        return static_cast<size_t>(found - indices.begin());
    });
    local_->load_state_dict(own);
    
    consolidated_.reset();
