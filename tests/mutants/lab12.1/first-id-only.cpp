// Only the first of the names of the job's id is tried.
// region: libmini/distributed/rendezvous/rank_variables.cpp
    found.rank = number_in(lookup, launcher.rank);
    found.world_size = number_in(lookup, launcher.world_size);
    found.local_rank = number_in(lookup, launcher.local_rank);
    found.local_world_size = number_in(lookup, launcher.local_world_size);
    found.node_rank = number_in(lookup, launcher.node_rank);
    found.job_id = find(lookup, launcher.job_id[0]).value_or("");
