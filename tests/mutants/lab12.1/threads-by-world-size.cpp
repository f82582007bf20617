// OMP_NUM_THREADS depends on the ranks of all nodes.
// region: libmini/tools/minirun/environment.cpp 2
    if (job.world_size > 1) base.try_emplace("OMP_NUM_THREADS", "1");
    base.try_emplace("MINI_PROGRESS", job.progress);
    Environment variables = own_variables(job, local_rank);
    variables.merge(base);  // adds only the names that variables lacks
    return variables;
