// After SIGINT comes SIGKILL.
// region: libmini/tools/minirun/supervisor.cpp 3
    if (phase_ == Phase::kGathering) {
        stop(SIGTERM);
    } else {
        kill_all();
    }
