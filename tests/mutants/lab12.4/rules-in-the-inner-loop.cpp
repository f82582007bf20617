// The first end that any rule fits is the suspect.
// region: libmini/distributed/net/root_cause.cpp 1
    for (size_t i = 0; i < seen; ++i)
        for (const auto& rule : {was_killed, blames_none, has_failed})
            if (rule(ends[i])) return i;
    return std::nullopt;
