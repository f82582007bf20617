// --- all-ends
// Ranks that ended while they were stopped are suspects.
// region: libmini/distributed/net/root_cause.cpp 1
    for (const auto& rule : {was_killed, blames_none, has_failed})
        if (const auto found = first_end(ends, ends.size(), rule)) return found;
    return std::nullopt;

// --- any-signal
// Any signal counts, also the launcher's own and SIGABRT.
// region: libmini/distributed/net/root_cause.cpp 1
    const auto signalled = [](const RankEnd& end) { return end.signal != 0; };
    if (const auto found = first_end(ends, seen, signalled)) return found;
    for (const auto& rule : {blames_none, has_failed})
        if (const auto found = first_end(ends, seen, rule)) return found;
    return std::nullopt;

// --- blames-none-before-killed
// A rank that blames none comes before a killed one.
// region: libmini/distributed/net/root_cause.cpp 1
    for (const auto& rule : {blames_none, was_killed, has_failed})
        if (const auto found = first_end(ends, seen, rule)) return found;
    return std::nullopt;

// --- blames-the-innocent
// A rank that did not fail can be blamed.
// region: libmini/distributed/net/root_cause.cpp 2
    std::vector<bool> visited(ends.size());
    while (true) {
        visited[suspect] = true;
        const auto blamed = first_end(ends, ends.size(), [&](const RankEnd& end) {
            return end.rank == ends[suspect].blamed;
        });
        if (!blamed || visited[*blamed]) return suspect;
        suspect = *blamed;
    }

// --- endless-circle
// Ranks that blame each other make an endless chain.
// region: libmini/distributed/net/root_cause.cpp 2
    std::vector<bool> visited(ends.size());
    while (true) {
        visited[suspect] = true;
        const auto blamed = first_end(ends, ends.size(), [&](const RankEnd& end) {
            return end.failed && end.rank == ends[suspect].blamed;
        });
        if (!blamed) return suspect;
        suspect = *blamed;
    }

// --- first-in-time
// The first failure in time is the suspect.
// region: libmini/distributed/net/root_cause.cpp 1
    return first_end(ends, seen, has_failed);

// --- killed-or-first
// The second rule is forgotten.
// region: libmini/distributed/net/root_cause.cpp 1
    for (const auto& rule : {was_killed, has_failed})
        if (const auto found = first_end(ends, seen, rule)) return found;
    return std::nullopt;

// --- last-killed
// The last killed rank is the suspect.
// region: libmini/distributed/net/root_cause.cpp 1
    std::optional<size_t> last;
    for (size_t i = 0; i < seen; ++i)
        if (was_killed(ends[i])) last = i;
    if (last) return last;
    for (const auto& rule : {blames_none, has_failed})
        if (const auto found = first_end(ends, seen, rule)) return found;
    return std::nullopt;

// --- no-chain
// The chain is not followed.
// region: libmini/distributed/net/root_cause.cpp 2
    return suspect;

// --- one-step
// Only one step of the chain is taken.
// region: libmini/distributed/net/root_cause.cpp 2
    const auto blamed = first_end(ends, ends.size(), [&](const RankEnd& end) {
        return end.failed && end.rank == ends[suspect].blamed;
    });
    return blamed ? *blamed : suspect;

// --- rank-as-index
// A rank is used as an index of the ends.
// region: libmini/distributed/net/root_cause.cpp 2
    std::vector<bool> visited(ends.size());
    while (true) {
        visited[suspect] = true;
        const auto blamed = static_cast<size_t>(ends[suspect].blamed);
        if (ends[suspect].blamed < 0 || blamed >= ends.size()) return suspect;
        if (visited[blamed] || !ends[blamed].failed) return suspect;
        suspect = blamed;
    }

// --- rules-in-the-inner-loop
// The first end that any rule fits is the suspect.
// region: libmini/distributed/net/root_cause.cpp 1
    for (size_t i = 0; i < seen; ++i)
        for (const auto& rule : {was_killed, blames_none, has_failed})
            if (rule(ends[i])) return i;
    return std::nullopt;

// --- someone-must-be-innocent
// The third rule is forgotten.
// region: libmini/distributed/net/root_cause.cpp 1
    for (const auto& rule : {was_killed, blames_none})
        if (const auto found = first_end(ends, seen, rule)) return found;
    return std::nullopt;

// --- stops-at-itself-only
// The chain stops only where it began.
// region: libmini/distributed/net/root_cause.cpp 2
    const size_t begin = suspect;
    while (true) {
        const auto blamed = first_end(ends, ends.size(), [&](const RankEnd& end) {
            return end.failed && end.rank == ends[suspect].blamed;
        });
        if (!blamed || *blamed == begin) return suspect;
        suspect = *blamed;
    }
