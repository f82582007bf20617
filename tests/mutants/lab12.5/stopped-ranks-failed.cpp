// Ranks that minirun has stopped count as failed.
// region: libmini/tools/minirun/supervisor.cpp 2
    ends_.push_back(
        {job_.rank(local_rank), pid, exit, false, dist::flight_now()});
    if (exit.failed() && phase_ == Phase::kRunning) gather();
