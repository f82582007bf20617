// The first signal kills the ranks.
// region: libmini/tools/minirun/supervisor.cpp 1
    if (phase_ == Phase::kRunning) interrupted_by_ = signal;
    kill_all();
