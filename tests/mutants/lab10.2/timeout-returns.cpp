// The deadline ends the wait without an error.
// region: libmini/distributed/store/hash_store.cpp
    const auto all_there = [&] { return table_.missing(keys).empty(); };
    wait_on(changed_, lock, deadline, all_there);
