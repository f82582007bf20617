// The counter is asked for again and again.
// region: libmini/distributed/rendezvous/store_barrier.cpp
    const int64_t arrived = store.add(name, 1);
    const int64_t count = (arrived - 1) / world_size;
    const std::string round = concat(name, "/", count);
    store.set(concat(round, "/rank/", rank), "");
    while (store.add(name, 0) < (count + 1) * world_size) {
        if (has_passed(deadline)) throw_late(store, round, world_size);
        sleep_for(std::chrono::milliseconds(10));
    }
