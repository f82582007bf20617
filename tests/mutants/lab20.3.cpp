// --- bytes-over-no-rate
// Divides by the rate inside a host also where there are no hosts: 0 times infinity.
// region: libmini/extras/scaling/all_reduce_on_links.cpp 2
const bool is_tree = algorithm == Algorithm::kTree;
const int rounds = std::bit_width(static_cast<unsigned>(per_host) - 1);
const double inside = 2 * rounds *
                      (in_seconds(links.inside.delay) +
                       static_cast<double>(bytes) / links.inside.bytes_per_second);
const double between = seconds_on(
    links.network, is_tree ? Algorithm::kTree : Algorithm::kRing, hosts, bytes);
return inside + between;

// --- chunks-the-other-way
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

// --- equal-chunks
// All chunks have n/P bytes, also where P does not divide n.
// region: libmini/extras/scaling/all_reduce_on_links.cpp 1
for (int step = 0; step < 2 * (P - 1); ++step) {
    for (size_t rank = 0; rank < begin.size(); ++rank) {
        const size_t left = (rank + begin.size() - 1) % begin.size();
        const dist::Route &mine = to_right[rank], &way = to_right[left];
        [[maybe_unused]] const int r = static_cast<int>(rank);
        const double own = static_cast<double>(bytes) / P;
        const double arriving = own;
        next[rank] = std::max(
            begin[rank] + own / mine.bytes_per_second,
            begin[left] + arriving / way.bytes_per_second + in_seconds(way.delay));
    }
    std::swap(begin, next);
}

// --- full-hosts-only
// A last host that is not full is left out.
// region: libmini/extras/scaling/all_reduce_on_links.cpp 2
(void)hosts;
const bool is_tree = algorithm == Algorithm::kTree;
const int full = std::max(1, P / links.ranks_per_host);
const double inside = seconds_on(links.inside, Algorithm::kTree, per_host, bytes);
const double between =
    seconds_on(links.network, is_tree ? Algorithm::kTree : Algorithm::kRing, full, bytes);
return inside + between;

// --- no-wait-for-the-left
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

// --- one-array
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

// --- one-way-inside
// Inside a host only the reduce: the broadcast is forgotten.
// region: libmini/extras/scaling/all_reduce_on_links.cpp 2
const bool is_tree = algorithm == Algorithm::kTree;
const double inside = seconds_on(links.inside, Algorithm::kTree, per_host, bytes) / 2;
const double between = seconds_on(
    links.network, is_tree ? Algorithm::kTree : Algorithm::kRing, hosts, bytes);
return inside + between;

// --- own-chunk-arrives
// The message from the left has the size of the rank's own.
// region: libmini/extras/scaling/all_reduce_on_links.cpp 1
for (int step = 0; step < 2 * (P - 1); ++step) {
    for (size_t rank = 0; rank < begin.size(); ++rank) {
        const size_t left = (rank + begin.size() - 1) % begin.size();
        const dist::Route &mine = to_right[rank], &way = to_right[left];
        [[maybe_unused]] const int r = static_cast<int>(rank);
        const double own = chunk_bytes(bytes, P, r - step);
        const double arriving = own;
        next[rank] = std::max(
            begin[rank] + own / mine.bytes_per_second,
            begin[left] + arriving / way.bytes_per_second + in_seconds(way.delay));
    }
    std::swap(begin, next);
}

// --- own-port-forgotten
// A rank goes on when a message arrives, while its own port still sends.
// region: libmini/extras/scaling/all_reduce_on_links.cpp 1
for (int step = 0; step < 2 * (P - 1); ++step) {
    std::ranges::fill(next, 0.0);
    for (size_t rank = 0; rank < begin.size(); ++rank) {
        const auto& [out_port, in_port, rate, delay] = to_right[rank];
        const double chunk = chunk_bytes(bytes, P, static_cast<int>(rank) - step);
        const double sent = begin[rank] + chunk / rate;
        double& right = next[(rank + 1) % next.size()];
        right = std::max(right, sent + in_seconds(delay));
    }
    std::swap(begin, next);
}

// --- ranks-between-hosts
// All ranks take part in the ring between the hosts.
// region: libmini/extras/scaling/all_reduce_on_links.cpp 2
const bool is_tree = algorithm == Algorithm::kTree;
const double inside = seconds_on(links.inside, Algorithm::kTree, per_host, bytes);
const double between = seconds_on(
    links.network, is_tree ? Algorithm::kTree : Algorithm::kRing, hosts* per_host, bytes);
return inside + between;

// --- slowest-hop-only
// Every step takes as long as the slowest hop.
// region: libmini/extras/scaling/all_reduce_on_links.cpp 1
double longest = 0;
for (const dist::Route& way : to_right)
    longest = std::max(longest, chunk_bytes(bytes, P, P - 1) / way.bytes_per_second +
                                    in_seconds(way.delay));
for (double& each : begin) each = 2 * (P - 1) * longest;

// --- whole-buffers
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
