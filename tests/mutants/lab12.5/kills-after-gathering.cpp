// After gathering the ranks are killed, without a chance to clean up.
// region: libmini/tools/minirun/supervisor.cpp 3
    if (phase_ == Phase::kGathering) {
        kill_all();
    } else if (stop_signal_ == SIGINT) {
        stop_signal_ = SIGTERM;
        signal_all(SIGTERM);
        enter(Phase::kStopping, options_.grace);
    } else {
        kill_all();
    }
