// Any signal counts, also the launcher's own and SIGABRT.
// region: libmini/distributed/net/root_cause.cpp 1
    const auto signalled = [](const RankEnd& end) { return end.signal != 0; };
    if (const auto found = first_end(ends, seen, signalled)) return found;
    for (const auto& rule : {blames_none, has_failed})
        if (const auto found = first_end(ends, seen, rule)) return found;
    return std::nullopt;
