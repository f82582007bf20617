// SIGTERM after SIGINT is not sent.
// region: libmini/tools/minirun/supervisor.cpp 3
    if (phase_ == Phase::kGathering) {
        stop(SIGTERM);
    } else if (stop_signal_ == SIGINT) {
        stop_signal_ = SIGTERM;
        enter(Phase::kStopping, options_.grace);
    } else {
        kill_all();
    }
