// Only rank 0 stops averaging; the others wait for it.
    const bool previous = std::exchange(sync_, group_->rank() != 0);
    return NoSync([this, previous] { sync_ = previous; });
