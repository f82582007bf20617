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
