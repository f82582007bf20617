// Averaging stays off after no_sync.
// region: libmini/parallel/replicated_module.cpp
    sync_ = false;
    return NoSync([] {});
