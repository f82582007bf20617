// The ranks are killed at the first failure.
// region: libmini/tools/minirun/supervisor.cpp 2
    ends_.push_back(
        {job_.rank(local_rank), pid, exit, sent_by_us(exit), dist::flight_now()});
    if (exit.failed() && phase_ == Phase::kRunning) kill_all();
