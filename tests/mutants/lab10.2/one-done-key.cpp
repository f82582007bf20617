// All rounds share the key that ends them, so the second barrier does not wait.
// region: libmini/distributed/rendezvous/store_barrier.cpp
    const int64_t arrived = store.add(name, 1);
    const std::string round = concat(name, "/", (arrived - 1) / world_size);
    store.set(concat(round, "/rank/", rank), "");
    if (arrived % world_size == 0) store.set(concat(name, "/done"), "");
    try {
        store.wait({concat(name, "/done")}, deadline);
    } catch (const Timeout&) {
        throw_late(store, round, world_size);
    }
