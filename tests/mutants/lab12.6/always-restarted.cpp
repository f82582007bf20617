// Also an outcome that may not be restarted is.
// region: libmini/tools/minirun/launcher.cpp
    while (true) {
        const Outcome outcome = run(job);
        if (outcome.code == 0 || job.restart_count >= job.max_restarts)
            return outcome.code;
        ++job.restart_count;
        job.run_id = concat(job.log_name, ".", job.restart_count);
    }
