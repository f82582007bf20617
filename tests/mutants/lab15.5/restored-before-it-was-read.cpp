// The previous state is read after it has been overwritten.
    sync_ = false;
    const bool previous = sync_;
    return NoSync([this, previous] { sync_ = previous; });
