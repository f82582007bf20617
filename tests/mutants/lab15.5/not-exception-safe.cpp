// A no_sync that an exception leaves stays on forever.
    const bool previous = std::exchange(sync_, false);
    return NoSync([this, previous] {
        if (std::uncaught_exceptions() == 0) sync_ = previous;
    });
