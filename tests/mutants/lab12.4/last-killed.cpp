// The last killed rank is the suspect.
// region: libmini/distributed/net/root_cause.cpp 1
    std::optional<size_t> last;
    for (size_t i = 0; i < seen; ++i)
        if (was_killed(ends[i])) last = i;
    if (last) return last;
    for (const auto& rule : {blames_none, has_failed})
        if (const auto found = first_end(ends, seen, rule)) return found;
    return std::nullopt;
