// Inside a host only the reduce: the broadcast is forgotten.
// region: libmini/extras/scaling/all_reduce_on_links.cpp 2
const bool is_tree = algorithm == Algorithm::kTree;
const double inside = seconds_on(links.inside, Algorithm::kTree, per_host, bytes) / 2;
const double between = seconds_on(
    links.network, is_tree ? Algorithm::kTree : Algorithm::kRing, hosts, bytes);
return inside + between;
