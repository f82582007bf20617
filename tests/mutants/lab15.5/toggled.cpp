// The switch is turned over, and turned over again at the end: two make one.
    sync_ = !sync_;
    return NoSync([this] { sync_ = !sync_; });
