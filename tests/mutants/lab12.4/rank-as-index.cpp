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
