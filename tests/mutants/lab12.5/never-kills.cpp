// Ranks that ignore SIGTERM are asked forever.
// region: libmini/tools/minirun/supervisor.cpp 3
    if (phase_ == Phase::kGathering) {
        stop(SIGTERM);
    } else if (stop_signal_ == SIGINT) {
        stop_signal_ = SIGTERM;
        signal_all(SIGTERM);
        enter(Phase::kStopping, options_.grace);
    } else {
        stop(SIGTERM);
    }
