// After SIGINT, SIGTERM is sent again and again.
// region: libmini/tools/minirun/supervisor.cpp 3
    if (phase_ == Phase::kGathering) {
        stop(SIGTERM);
    } else if (stop_signal_ == SIGINT) {
        signal_all(SIGTERM);
        enter(Phase::kStopping, options_.grace);
    } else {
        kill_all();
    }
