// Stopping after SIGINT has no end.
// region: libmini/tools/minirun/supervisor.cpp 3
    if (phase_ == Phase::kGathering) {
        stop(SIGTERM);
    } else if (stop_signal_ == SIGINT) {
        stop_signal_ = SIGTERM;
        signal_all(SIGTERM);
        enter(Phase::kStopping, Clock::duration::max());
    } else {
        kill_all();
    }
