// The variables begin with an empty map again: the address is lost.
// region: libmini/tools/minirun/environment.cpp 1
    const std::string rank = std::to_string(job.rank(local_rank));
    const std::string world_size = std::to_string(job.world_size);
    variables = {{"RANK", rank},
                 {"LOCAL_RANK", std::to_string(local_rank)},
                 {"ROLE_RANK", rank},
                 {"WORLD_SIZE", world_size},
                 {"LOCAL_WORLD_SIZE", std::to_string(job.local_size())},
                 {"ROLE_WORLD_SIZE", world_size},
                 {"GROUP_RANK", std::to_string(job.node_rank)},
                 {"GROUP_WORLD_SIZE", std::to_string(job.nodes)}};
