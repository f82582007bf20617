// The last of the names of the job's id wins.
// region: libmini/distributed/rendezvous/rank_variables.cpp
    found.rank = number_in(lookup, launcher.rank);
    found.world_size = number_in(lookup, launcher.world_size);
    found.local_rank = number_in(lookup, launcher.local_rank);
    found.local_world_size = number_in(lookup, launcher.local_world_size);
    found.node_rank = number_in(lookup, launcher.node_rank);
    for (const char* name : launcher.job_id)
        found.job_id = find(lookup, name).value_or(found.job_id);
