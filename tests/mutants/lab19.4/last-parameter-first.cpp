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
