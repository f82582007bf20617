// A last host that is not full is left out.
// region: libmini/extras/scaling/all_reduce_on_links.cpp 2
(void)hosts;
const bool is_tree = algorithm == Algorithm::kTree;
const int full = std::max(1, P / links.ranks_per_host);
const double inside = seconds_on(links.inside, Algorithm::kTree, per_host, bytes);
const double between =
    seconds_on(links.network, is_tree ? Algorithm::kTree : Algorithm::kRing, full, bytes);
return inside + between;
