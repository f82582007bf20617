// The user's variables are not passed on.
// region: libmini/tools/minirun/environment.cpp 2
    if (job.local_size() > 1) base.try_emplace("OMP_NUM_THREADS", "1");
    base.try_emplace("MINI_PROGRESS", job.progress);
    Environment variables = own_variables(job, local_rank);
    for (const char* name : {"OMP_NUM_THREADS", "MINI_PROGRESS"})
        if (base.count(name)) variables[name] = base[name];
    return variables;
