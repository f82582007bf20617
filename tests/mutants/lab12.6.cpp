// --- always-restarted
// Also an outcome that may not be restarted is.
// region: libmini/tools/minirun/launcher.cpp
    while (true) {
        const Outcome outcome = run(job);
        if (outcome.code == 0 || job.restart_count >= job.max_restarts)
            return outcome.code;
        ++job.restart_count;
        job.run_id = concat(job.log_name, ".", job.restart_count);
    }

// --- count-of-a-copy
// The attempts get a copy of the first job.
// region: libmini/tools/minirun/launcher.cpp
    dist::Job first = job;
    while (true) {
        const Outcome outcome = run(first);
        const bool again =
            outcome.may_be_restarted && job.restart_count < job.max_restarts;
        if (!again) return outcome.code;
        ++job.restart_count;
        job.run_id = concat(job.log_name, ".", job.restart_count);
    }

// --- counted-after-the-name
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

// --- counts-attempts
// max_restarts counts attempts.
// region: libmini/tools/minirun/launcher.cpp
    while (true) {
        const Outcome outcome = run(job);
        const bool again =
            outcome.may_be_restarted && job.restart_count + 1 < job.max_restarts;
        if (!again) return outcome.code;
        ++job.restart_count;
        job.run_id = concat(job.log_name, ".", job.restart_count);
    }

// --- first-code
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

// --- id-grows
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

// --- id-unchanged
// All attempts have one run id.
// region: libmini/tools/minirun/launcher.cpp
    while (true) {
        const Outcome outcome = run(job);
        const bool again =
            outcome.may_be_restarted && job.restart_count < job.max_restarts;
        if (!again) return outcome.code;
        ++job.restart_count;
    }

// --- never-restarted
// The job is not restarted.
// region: libmini/tools/minirun/launcher.cpp
    return run(job).code;

// --- one-restart-too-many
// One restart too many is made.
// region: libmini/tools/minirun/launcher.cpp
    while (true) {
        const Outcome outcome = run(job);
        const bool again =
            outcome.may_be_restarted && job.restart_count <= job.max_restarts;
        if (!again) return outcome.code;
        ++job.restart_count;
        job.run_id = concat(job.log_name, ".", job.restart_count);
    }
