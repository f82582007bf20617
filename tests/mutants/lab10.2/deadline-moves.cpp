// Each change of any key moves the deadline.
// region: libmini/distributed/store/hash_store.cpp
    const auto timeout = deadline - Clock::now();
    while (!table_.missing(keys).empty()) {
        const Deadline end = Clock::now() + timeout;
        time_source().wait(changed_, lock, end);
        if (has_passed(end) && !table_.missing(keys).empty())
            throw_missing("the store of this process", keys, table_.missing(keys));
    }
