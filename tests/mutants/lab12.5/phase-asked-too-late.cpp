// The phase is looked at after it has changed.
// region: libmini/tools/minirun/supervisor.cpp 1
    if (stop_signal_ == 0) {
        stop(ending_signal_for_ranks(signal));
    } else {
        kill_all();
    }
    if (phase_ == Phase::kRunning) interrupted_by_ = signal;
