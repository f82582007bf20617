// The job is not restarted.
// region: libmini/tools/minirun/launcher.cpp
    return run(job).code;
