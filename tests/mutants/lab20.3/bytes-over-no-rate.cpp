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
