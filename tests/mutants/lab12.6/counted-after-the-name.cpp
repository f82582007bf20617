// The run id is made before the restart is counted.
// region: libmini/tools/minirun/launcher.cpp
    while (true) {
        const Outcome outcome = run(job);
        const bool again =
            outcome.may_be_restarted && job.restart_count < job.max_restarts;
        if (!again) return outcome.code;
        job.run_id = concat(job.log_name, ".", job.restart_count);
        ++job.restart_count;
    }
