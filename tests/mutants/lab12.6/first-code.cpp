// The exit code of the first failure is returned.
// region: libmini/tools/minirun/launcher.cpp
    int first = 0;
    while (true) {
        const Outcome outcome = run(job);
        if (first == 0) first = outcome.code;
        const bool again =
            outcome.may_be_restarted && job.restart_count < job.max_restarts;
        if (!again) return first;
        ++job.restart_count;
        job.run_id = concat(job.log_name, ".", job.restart_count);
    }
