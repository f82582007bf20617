// A second signal is ignored.
// region: libmini/tools/minirun/supervisor.cpp 1
    if (phase_ == Phase::kRunning) interrupted_by_ = signal;
    if (stop_signal_ == 0) {
        stop(ending_signal_for_ranks(signal));
    }
