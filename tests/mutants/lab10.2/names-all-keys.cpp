// The error names all keys.
// region: libmini/distributed/store/hash_store.cpp
    const auto all_there = [&] { return table_.missing(keys).empty(); };
    if (!wait_on(changed_, lock, deadline, all_there))
        throw_missing("the store of this process", keys, keys);
