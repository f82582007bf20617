// Ranks that ended while they were stopped are suspects.
// region: libmini/distributed/net/root_cause.cpp 1
    for (const auto& rule : {was_killed, blames_none, has_failed})
        if (const auto found = first_end(ends, ends.size(), rule)) return found;
    return std::nullopt;
