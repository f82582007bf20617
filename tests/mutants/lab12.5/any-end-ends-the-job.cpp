// A rank that ends well ends the job.
// region: libmini/tools/minirun/supervisor.cpp 2
    ends_.push_back(
        {job_.rank(local_rank), pid, exit, sent_by_us(exit), dist::flight_now()});
    if (phase_ == Phase::kRunning) gather();
