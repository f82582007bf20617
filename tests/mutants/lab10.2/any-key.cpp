// The wait ends when one of the keys exists.
// region: libmini/distributed/store/hash_store.cpp
    const auto all_there = [&] { return table_.missing(keys).size() < keys.size() || keys.empty(); };
    if (!wait_on(changed_, lock, deadline, all_there))
        throw_missing("the store of this process", keys, table_.missing(keys));
