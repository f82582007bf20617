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
