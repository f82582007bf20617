// The number of the node is not read.
// region: libmini/distributed/rendezvous/rank_variables.cpp
    found.rank = number_in(lookup, launcher.rank);
    found.world_size = number_in(lookup, launcher.world_size);
    found.local_rank = number_in(lookup, launcher.local_rank);
    found.local_world_size = number_in(lookup, launcher.local_world_size);
    for (const char* name : launcher.job_id)
        if (found.job_id.empty()) found.job_id = find(lookup, name).value_or("");
