// Rank r sends chunk r + s.
// region: libmini/extras/scaling/all_reduce_on_links.cpp 1
for (int step = 0; step < 2 * (P - 1); ++step) {
    for (size_t rank = 0; rank < begin.size(); ++rank) {
        const size_t left = (rank + begin.size() - 1) % begin.size();
        const dist::Route &mine = to_right[rank], &way = to_right[left];
        [[maybe_unused]] const int r = static_cast<int>(rank);
        const double own = chunk_bytes(bytes, P, r + step);
        const double arriving = chunk_bytes(bytes, P, r - 1 + step);
        next[rank] = std::max(
            begin[rank] + own / mine.bytes_per_second,
            begin[left] + arriving / way.bytes_per_second + in_seconds(way.delay));
    }
    std::swap(begin, next);
}
