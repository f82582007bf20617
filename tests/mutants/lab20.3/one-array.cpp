// The times of this step overwrite those that other ranks still need.
// region: libmini/extras/scaling/all_reduce_on_links.cpp 1
for (int step = 0; step < 2 * (P - 1); ++step) {
    for (size_t rank = 0; rank < begin.size(); ++rank) {
        const auto& [out_port, in_port, rate, delay] = to_right[rank];
        const double chunk = chunk_bytes(bytes, P, static_cast<int>(rank) - step);
        const double sent = begin[rank] + chunk / rate;
        double& right = begin[(rank + 1) % next.size()];
        begin[rank] = std::max(begin[rank], sent);
        right = std::max(right, sent + in_seconds(delay));
    }
}
