// Every signal is passed on as SIGTERM.
// region: libmini/tools/minirun/supervisor.cpp 1
    if (phase_ == Phase::kRunning) interrupted_by_ = signal;
    if (stop_signal_ == 0) {
        stop(SIGTERM);
    } else {
        kill_all();
    }
