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
