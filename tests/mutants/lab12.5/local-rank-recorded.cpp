// The local rank is recorded as the rank.
// region: libmini/tools/minirun/supervisor.cpp 2
    ends_.push_back(
        {local_rank, pid, exit, sent_by_us(exit), dist::flight_now()});
    if (exit.failed() && phase_ == Phase::kRunning) gather();
