// A rank goes on when its own message has left.
// region: libmini/extras/scaling/all_reduce_on_links.cpp 1
for (int step = 0; step < 2 * (P - 1); ++step) {
    std::ranges::fill(next, 0.0);
    for (size_t rank = 0; rank < begin.size(); ++rank) {
        const auto& [out_port, in_port, rate, delay] = to_right[rank];
        const double chunk = chunk_bytes(bytes, P, static_cast<int>(rank) - step);
        const double sent = begin[rank] + chunk / rate;
        double& right = next[(rank + 1) % next.size()];
        next[rank] = std::max(next[rank], sent);
        (void)delay;
        (void)right;
    }
    std::swap(begin, next);
}
