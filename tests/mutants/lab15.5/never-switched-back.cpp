// Averaging stays off after no_sync.
    sync_ = false;
    return NoSync([] {});
