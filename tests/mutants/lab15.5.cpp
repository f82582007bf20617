// --- does-nothing
// Nothing is switched off.
    return NoSync([] {});

// --- ends-at-once
// The guard inside the function ends with the function.
    const bool previous = std::exchange(sync_, false);
    {
        const NoSync guard([this, previous] { sync_ = previous; });
    }
    return NoSync([] {});

// --- inner-no-sync-ends-both
// The end of an inner no_sync ends the outer one.
    sync_ = false;
    return NoSync([this] { sync_ = true; });

// --- never-switched-back
// Averaging stays off after no_sync.
    sync_ = false;
    return NoSync([] {});

// --- not-exception-safe
// A no_sync that an exception leaves stays on forever.
    const bool previous = std::exchange(sync_, false);
    return NoSync([this, previous] {
        if (std::uncaught_exceptions() == 0) sync_ = previous;
    });

// --- only-on-rank-0
// Only rank 0 stops averaging; the others wait for it.
    const bool previous = std::exchange(sync_, group_->rank() != 0);
    return NoSync([this, previous] { sync_ = previous; });

// --- restored-before-it-was-read
// The previous state is read after it has been overwritten.
    sync_ = false;
    const bool previous = sync_;
    return NoSync([this, previous] { sync_ = previous; });

// --- switched-off-at-the-end
// Averaging is switched off when the object is destroyed, not when it is made.
    const bool previous = sync_;
    return NoSync([this, previous] { sync_ = !previous; });

// --- toggled
// The switch is turned over, and turned over again at the end: two make one.
    sync_ = !sync_;
    return NoSync([this] { sync_ = !sync_; });
