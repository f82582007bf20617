// The numbers are read from torchrun's variables, whatever the launcher.
// region: libmini/distributed/rendezvous/rank_variables.cpp
    found.rank = number_in(lookup, "RANK");
    found.world_size = number_in(lookup, "WORLD_SIZE");
    found.local_rank = number_in(lookup, launcher.local_rank);
    found.local_world_size = number_in(lookup, launcher.local_world_size);
    found.node_rank = number_in(lookup, launcher.node_rank);
    for (const char* name : launcher.job_id)
        if (found.job_id.empty()) found.job_id = find(lookup, name).value_or("");
