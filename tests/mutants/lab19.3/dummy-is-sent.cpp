// A rank that owns nothing sends the state of its dummy as that of parameter 0.
// region: libmini/parallel/zero.cpp 1
    return renumbered(local_->state_dict(), [&](size_t local) -> std::optional<size_t> {
        if (local >= indices.size()) return local;
        return indices[local];
    });
