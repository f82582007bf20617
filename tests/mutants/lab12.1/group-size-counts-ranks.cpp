// GROUP_WORLD_SIZE counts ranks, not nodes.
// region: libmini/tools/minirun/environment.cpp 1
    const std::string rank = std::to_string(job.rank(local_rank));
    const std::string world_size = std::to_string(job.world_size);
    variables["RANK"] = rank;
    variables["LOCAL_RANK"] = std::to_string(local_rank);
    variables["ROLE_RANK"] = rank;
    variables["WORLD_SIZE"] = world_size;
    variables["LOCAL_WORLD_SIZE"] = std::to_string(job.local_size());
    variables["ROLE_WORLD_SIZE"] = world_size;
    variables["GROUP_RANK"] = std::to_string(job.node_rank);
    variables["GROUP_WORLD_SIZE"] = world_size;
