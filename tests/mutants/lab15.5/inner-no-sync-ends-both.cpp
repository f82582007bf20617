// The end of an inner no_sync ends the outer one.
    sync_ = false;
    return NoSync([this] { sync_ = true; });
