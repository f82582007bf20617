// The end of an inner no_sync ends the outer one.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 5
    sync_ = false;
    return NoSync([this] { sync_ = true; });
