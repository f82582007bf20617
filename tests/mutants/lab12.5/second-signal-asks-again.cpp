// A second signal is passed on like the first.
// region: libmini/tools/minirun/supervisor.cpp 1
    if (phase_ == Phase::kRunning) interrupted_by_ = signal;
    stop(ending_signal_for_ranks(signal));
