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
