// Every error of the store is taken for a rank that is late.
// region: libmini/distributed/rendezvous/store_barrier.cpp
    const int64_t arrived = store.add(name, 1);
    const std::string round = concat(name, "/", (arrived - 1) / world_size);
    store.set(concat(round, "/rank/", rank), "");
    if (arrived % world_size == 0) store.set(concat(round, "/done"), "");
    try {
        store.wait({concat(round, "/done")}, deadline);
    } catch (const Error&) {
        throw_late(store, round, world_size);
    }
