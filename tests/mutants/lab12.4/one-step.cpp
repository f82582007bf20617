// Only one step of the chain is taken.
// region: libmini/distributed/net/root_cause.cpp 2
    const auto blamed = first_end(ends, ends.size(), [&](const RankEnd& end) {
        return end.failed && end.rank == ends[suspect].blamed;
    });
    return blamed ? *blamed : suspect;
