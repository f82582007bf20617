// --- address-lost
// The variables begin with an empty map again: the address is lost.
// region: libmini/distributed/rendezvous/rank_environment.cpp 1
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

// --- empty-counts-as-not-set
// An empty variable of the user counts as not set.
// region: libmini/distributed/rendezvous/rank_environment.cpp 2
    if (job.local_size() > 1) if (base["OMP_NUM_THREADS"].empty()) base["OMP_NUM_THREADS"] = "1";
    base.try_emplace("MINI_PROGRESS", job.progress);
    Environment variables = own_variables(job, local_rank);
    variables.merge(base);  // adds only the names that variables lacks
    return variables;

// --- first-id-only
// Only the first of the names of the job's id is tried.
// region: libmini/distributed/rendezvous/rank_variables.cpp
    found.rank = number_in(lookup, launcher.rank);
    found.world_size = number_in(lookup, launcher.world_size);
    found.local_rank = number_in(lookup, launcher.local_rank);
    found.local_world_size = number_in(lookup, launcher.local_world_size);
    found.node_rank = number_in(lookup, launcher.node_rank);
    found.job_id = find_variable(lookup, launcher.job_id[0]).value_or("");

// --- from-the-process
// This process's variables are read, not those of lookup.
// region: libmini/distributed/rendezvous/rank_variables.cpp
    found.rank = number_in(environment_variable, launcher.rank);
    found.world_size = number_in(environment_variable, launcher.world_size);
    found.local_rank = number_in(environment_variable, launcher.local_rank);
    found.local_world_size = number_in(environment_variable, launcher.local_world_size);
    found.node_rank = number_in(environment_variable, launcher.node_rank);
    for (const char* name : launcher.job_id)
        if (found.job_id.empty()) found.job_id = find_variable(lookup, name).value_or("");

// --- group-size-counts-ranks
// GROUP_WORLD_SIZE counts ranks, not nodes.
// region: libmini/distributed/rendezvous/rank_environment.cpp 1
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

// --- group-variables-swapped
// GROUP_RANK and GROUP_WORLD_SIZE are swapped.
// region: libmini/distributed/rendezvous/rank_environment.cpp 1
    const std::string rank = std::to_string(job.rank(local_rank));
    const std::string world_size = std::to_string(job.world_size);
    variables["RANK"] = rank;
    variables["LOCAL_RANK"] = std::to_string(local_rank);
    variables["ROLE_RANK"] = rank;
    variables["WORLD_SIZE"] = world_size;
    variables["LOCAL_WORLD_SIZE"] = std::to_string(job.local_size());
    variables["ROLE_WORLD_SIZE"] = world_size;
    variables["GROUP_RANK"] = std::to_string(job.nodes) ;
    variables["GROUP_WORLD_SIZE"] = std::to_string(job.node_rank);

// --- last-id-wins
// The last of the names of the job's id wins.
// region: libmini/distributed/rendezvous/rank_variables.cpp
    found.rank = number_in(lookup, launcher.rank);
    found.world_size = number_in(lookup, launcher.world_size);
    found.local_rank = number_in(lookup, launcher.local_rank);
    found.local_world_size = number_in(lookup, launcher.local_world_size);
    found.node_rank = number_in(lookup, launcher.node_rank);
    for (const char* name : launcher.job_id)
        found.job_id = find_variable(lookup, name).value_or(found.job_id);

// --- local-rank-as-rank
// The rank is the local rank, as on a single node.
// region: libmini/distributed/rendezvous/rank_environment.cpp 1
    const std::string rank = std::to_string(local_rank);
    const std::string world_size = std::to_string(job.world_size);
    variables["RANK"] = rank;
    variables["LOCAL_RANK"] = std::to_string(local_rank);
    variables["ROLE_RANK"] = rank;
    variables["WORLD_SIZE"] = world_size;
    variables["LOCAL_WORLD_SIZE"] = std::to_string(job.local_size());
    variables["ROLE_WORLD_SIZE"] = world_size;
    variables["GROUP_RANK"] = std::to_string(job.node_rank);
    variables["GROUP_WORLD_SIZE"] = std::to_string(job.nodes);

// --- local-rank-from-rank
// The local rank is read from the variable of the rank.
// region: libmini/distributed/rendezvous/rank_variables.cpp
    found.rank = number_in(lookup, launcher.rank);
    found.world_size = number_in(lookup, launcher.world_size);
    found.local_rank = number_in(lookup, launcher.rank);
    found.local_world_size = number_in(lookup, launcher.local_world_size);
    found.node_rank = number_in(lookup, launcher.node_rank);
    for (const char* name : launcher.job_id)
        if (found.job_id.empty()) found.job_id = find_variable(lookup, name).value_or("");

// --- local-size-is-world-size
// LOCAL_WORLD_SIZE counts the ranks of all nodes.
// region: libmini/distributed/rendezvous/rank_environment.cpp 1
    const std::string rank = std::to_string(job.rank(local_rank));
    const std::string world_size = std::to_string(job.world_size);
    variables["RANK"] = rank;
    variables["LOCAL_RANK"] = std::to_string(local_rank);
    variables["ROLE_RANK"] = rank;
    variables["WORLD_SIZE"] = world_size;
    variables["LOCAL_WORLD_SIZE"] = world_size;
    variables["ROLE_WORLD_SIZE"] = world_size;
    variables["GROUP_RANK"] = std::to_string(job.node_rank);
    variables["GROUP_WORLD_SIZE"] = std::to_string(job.nodes);

// --- names-of-torchrun
// The numbers are read from torchrun's variables, whatever the launcher.
// region: libmini/distributed/rendezvous/rank_variables.cpp
    found.rank = number_in(lookup, "RANK");
    found.world_size = number_in(lookup, "WORLD_SIZE");
    found.local_rank = number_in(lookup, launcher.local_rank);
    found.local_world_size = number_in(lookup, launcher.local_world_size);
    found.node_rank = number_in(lookup, launcher.node_rank);
    for (const char* name : launcher.job_id)
        if (found.job_id.empty()) found.job_id = find_variable(lookup, name).value_or("");

// --- node-forgotten
// The number of the node is not read.
// region: libmini/distributed/rendezvous/rank_variables.cpp
    found.rank = number_in(lookup, launcher.rank);
    found.world_size = number_in(lookup, launcher.world_size);
    found.local_rank = number_in(lookup, launcher.local_rank);
    found.local_world_size = number_in(lookup, launcher.local_world_size);
    for (const char* name : launcher.job_id)
        if (found.job_id.empty()) found.job_id = find_variable(lookup, name).value_or("");

// --- progress-overridden
// MINI_PROGRESS hides the user's choice.
// region: libmini/distributed/rendezvous/rank_environment.cpp 2
    if (job.local_size() > 1) base.try_emplace("OMP_NUM_THREADS", "1");
    base["MINI_PROGRESS"] = job.progress;
    Environment variables = own_variables(job, local_rank);
    variables.merge(base);  // adds only the names that variables lacks
    return variables;

// --- rank-as-local-rank
// The local rank is the rank of the whole job.
// region: libmini/distributed/rendezvous/rank_environment.cpp 1
    const std::string rank = std::to_string(job.rank(local_rank));
    const std::string world_size = std::to_string(job.world_size);
    variables["RANK"] = rank;
    variables["LOCAL_RANK"] = rank;
    variables["ROLE_RANK"] = rank;
    variables["WORLD_SIZE"] = world_size;
    variables["LOCAL_WORLD_SIZE"] = std::to_string(job.local_size());
    variables["ROLE_WORLD_SIZE"] = world_size;
    variables["GROUP_RANK"] = std::to_string(job.node_rank);
    variables["GROUP_WORLD_SIZE"] = std::to_string(job.nodes);

// --- threads-always-one
// OMP_NUM_THREADS hides the user's choice.
// region: libmini/distributed/rendezvous/rank_environment.cpp 2
    if (job.local_size() > 1) base["OMP_NUM_THREADS"] = "1";
    base.try_emplace("MINI_PROGRESS", job.progress);
    Environment variables = own_variables(job, local_rank);
    variables.merge(base);  // adds only the names that variables lacks
    return variables;

// --- threads-by-world-size
// OMP_NUM_THREADS depends on the ranks of all nodes.
// region: libmini/distributed/rendezvous/rank_environment.cpp 2
    if (job.world_size > 1) base.try_emplace("OMP_NUM_THREADS", "1");
    base.try_emplace("MINI_PROGRESS", job.progress);
    Environment variables = own_variables(job, local_rank);
    variables.merge(base);  // adds only the names that variables lacks
    return variables;

// --- threads-of-a-single-rank
// A single rank is limited to one thread too.
// region: libmini/distributed/rendezvous/rank_environment.cpp 2
    base.try_emplace("OMP_NUM_THREADS", "1");
    base.try_emplace("MINI_PROGRESS", job.progress);
    Environment variables = own_variables(job, local_rank);
    variables.merge(base);  // adds only the names that variables lacks
    return variables;

// --- user-lost
// The user's variables are not passed on.
// region: libmini/distributed/rendezvous/rank_environment.cpp 2
    if (job.local_size() > 1) base.try_emplace("OMP_NUM_THREADS", "1");
    base.try_emplace("MINI_PROGRESS", job.progress);
    Environment variables = own_variables(job, local_rank);
    for (const char* name : {"OMP_NUM_THREADS", "MINI_PROGRESS"})
        if (base.count(name)) variables[name] = base[name];
    return variables;

// --- user-wins
// The user's RANK hides the rank's own.
// region: libmini/distributed/rendezvous/rank_environment.cpp 2
    if (job.local_size() > 1) base.try_emplace("OMP_NUM_THREADS", "1");
    base.try_emplace("MINI_PROGRESS", job.progress);
    Environment variables = own_variables(job, local_rank);
    base.merge(variables);
    return base;
