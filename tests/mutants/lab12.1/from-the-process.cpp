// This process's variables are read, not those of lookup.
// region: libmini/distributed/rendezvous/rank_variables.cpp
    found.rank = number_in(environment_variable, launcher.rank);
    found.world_size = number_in(environment_variable, launcher.world_size);
    found.local_rank = number_in(environment_variable, launcher.local_rank);
    found.local_world_size = number_in(environment_variable, launcher.local_world_size);
    found.node_rank = number_in(environment_variable, launcher.node_rank);
    for (const char* name : launcher.job_id)
        if (found.job_id.empty()) found.job_id = find(lookup, name).value_or("");
