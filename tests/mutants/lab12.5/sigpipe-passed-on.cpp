// SIGPIPE is passed on to the ranks.
// region: libmini/tools/minirun/supervisor.cpp 1
    if (phase_ == Phase::kRunning) interrupted_by_ = signal;
    if (stop_signal_ == 0) {
        stop(signal);
    } else {
        kill_all();
    }
