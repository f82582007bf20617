// The user's RANK hides the rank's own.
// region: libmini/tools/minirun/environment.cpp 2
    if (job.local_size() > 1) base.try_emplace("OMP_NUM_THREADS", "1");
    base.try_emplace("MINI_PROGRESS", job.progress);
    Environment variables = own_variables(job, local_rank);
    base.merge(variables);
    return base;
