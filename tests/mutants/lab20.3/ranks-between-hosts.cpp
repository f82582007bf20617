// All ranks take part in the ring between the hosts.
// region: libmini/extras/scaling/all_reduce_on_links.cpp 2
const bool is_tree = algorithm == Algorithm::kTree;
const double inside = seconds_on(links.inside, Algorithm::kTree, per_host, bytes);
const double between = seconds_on(
    links.network, is_tree ? Algorithm::kTree : Algorithm::kRing, hosts* per_host, bytes);
return inside + between;
