// The count is appended to the last run id.
// region: libmini/tools/minirun/launcher.cpp
    while (true) {
        const Outcome outcome = run(job);
        const bool again =
            outcome.may_be_restarted && job.restart_count < job.max_restarts;
        if (!again) return outcome.code;
        ++job.restart_count;
        job.run_id = concat(job.run_id, ".", job.restart_count);
    }
