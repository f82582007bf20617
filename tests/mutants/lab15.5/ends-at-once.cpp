// The guard inside the function ends with the function.
    const bool previous = std::exchange(sync_, false);
    {
        const NoSync guard([this, previous] { sync_ = previous; });
    }
    return NoSync([] {});
