// Each step sends the whole buffer.
// region: libmini/extras/scaling/all_reduce_on_links.cpp 1
for (int step = 0; step < 2 * (P - 1); ++step) {
    std::ranges::fill(next, 0.0);
    for (size_t rank = 0; rank < begin.size(); ++rank) {
        const auto& [out_port, in_port, rate, delay] = to_right[rank];
        const double chunk = static_cast<double>(bytes);
        const double sent = begin[rank] + chunk / rate;
        double& right = next[(rank + 1) % next.size()];
        next[rank] = std::max(next[rank], sent);
        right = std::max(right, sent + in_seconds(delay));
    }
    std::swap(begin, next);
}
