// complete() writes without the lock what wait() reads under it.
// region: labs/11-collectives/simple_group.cpp 2
    error_ = std::move(error);
    is_completed_ = true;
    completed_.notify_all();
