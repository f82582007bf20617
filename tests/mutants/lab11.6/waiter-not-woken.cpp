// complete() wakes no one: a wait that began earlier never ends.
// region: labs/11-collectives/simple_group.cpp 2
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
    is_completed_ = true;
