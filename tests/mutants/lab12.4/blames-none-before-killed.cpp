// A rank that blames none comes before a killed one.
// region: libmini/distributed/net/root_cause.cpp 1
    for (const auto& rule : {blames_none, was_killed, has_failed})
        if (const auto found = first_end(ends, seen, rule)) return found;
    return std::nullopt;
