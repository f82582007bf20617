// The keys are looked for once.
// region: libmini/distributed/store/hash_store.cpp
    const auto all_there = [&] { return table_.missing(keys).empty(); };
    if (!all_there())
        throw_missing("the store of this process", keys, table_.missing(keys));
