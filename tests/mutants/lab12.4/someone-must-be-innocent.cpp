// The third rule is forgotten.
// region: libmini/distributed/net/root_cause.cpp 1
    for (const auto& rule : {was_killed, blames_none})
        if (const auto found = first_end(ends, seen, rule)) return found;
    return std::nullopt;
