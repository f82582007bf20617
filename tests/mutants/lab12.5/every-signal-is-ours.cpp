// Every signal counts as one of minirun.
// region: libmini/tools/minirun/supervisor.cpp 2
    ends_.push_back(
        {job_.rank(local_rank), pid, exit, exit.by_signal, dist::flight_now()});
    if (exit.failed() && phase_ == Phase::kRunning) gather();
