#include "libmini/data/replica.hpp"

#include "libmini/core/error.hpp"

namespace mini::data {

World choose_replica(const std::string& who, std::optional<int> num_replicas,
                     std::optional<int> rank) {
    const std::optional<World> world = current_world();
    if (!world && (!num_replicas || !rank))
        throw UsageError(who, ": ", num_replicas ? "rank" : "num_replicas",
                         " is not given and this thread belongs to no process "
                         "group; call init_process_group first, or give both "
                         "num_replicas and rank");

    const int P = num_replicas ? *num_replicas : world->size;
    const int r = rank ? *rank : world->rank;
    if (P < 1) throw UsageError(who, ": num_replicas is ", P, " but must be at least 1");
    if (r < 0 || r >= P)
        throw UsageError(who, ": rank ", r, " is not one of the ", P, " replicas, 0 to ",
                         P - 1);
    return {.rank = r, .size = P};
}

void check_dataset_size(const std::string& who, int64_t dataset_size) {
    if (dataset_size < 0)
        throw UsageError(who, ": a dataset cannot have ", dataset_size, " samples");
}

}  // namespace mini::data
