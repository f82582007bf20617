// The time is asked for before the keys are looked for.
// region: libmini/distributed/store/hash_store.cpp
    const auto all_there = [&] { return table_.missing(keys).empty(); };
    if (has_passed(deadline) || !wait_on(changed_, lock, deadline, all_there))
        throw_missing("the store of this process", keys, table_.missing(keys));
