// The attempts get a copy of the first job.
// region: libmini/tools/minirun/launcher.cpp
    Job first = job;
    while (true) {
        const Outcome outcome = run(first);
        const bool again =
            outcome.may_be_restarted && job.restart_count < job.max_restarts;
        if (!again) return outcome.code;
        ++job.restart_count;
        job.run_id = concat(job.log_name, ".", job.restart_count);
    }
