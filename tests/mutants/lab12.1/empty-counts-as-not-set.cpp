// An empty variable of the user counts as not set.
// region: libmini/tools/minirun/environment.cpp 2
    if (job.local_size() > 1) if (base["OMP_NUM_THREADS"].empty()) base["OMP_NUM_THREADS"] = "1";
    base.try_emplace("MINI_PROGRESS", job.progress);
    Environment variables = own_variables(job, local_rank);
    variables.merge(base);  // adds only the names that variables lacks
    return variables;
