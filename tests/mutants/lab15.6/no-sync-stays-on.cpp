// Averaging stays off after no_sync.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 5
    sync_ = false;
    return NoSync([] {});
