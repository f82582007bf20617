// --- any-key
// The wait ends when one of the keys exists.
// region: libmini/distributed/store/hash_store.cpp
    const auto all_there = [&] { return table_.missing(keys).size() < keys.size() || keys.empty(); };
    if (!wait_on(changed_, lock, deadline, all_there))
        throw_missing("the store of this process", keys, table_.missing(keys));

// --- asks-in-a-loop
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

// --- barrier-of-one-round
// The counter is compared with the world size: only the first round works.
// region: libmini/distributed/rendezvous/store_barrier.cpp
    const int64_t arrived = store.add(name, 1);
    const std::string round = concat(name, "/", (arrived - 1) / world_size);
    store.set(concat(round, "/rank/", rank), "");
    if (arrived == world_size) store.set(concat(round, "/done"), "");
    try {
        store.wait({concat(round, "/done")}, deadline);
    } catch (const Timeout&) {
        throw_late(store, round, world_size);
    }

// --- deadline-moves
// Each change of any key moves the deadline.
// region: libmini/distributed/store/hash_store.cpp
    const auto timeout = deadline - Clock::now();
    while (!table_.missing(keys).empty()) {
        const Deadline end = Clock::now() + timeout;
        time_source().wait(changed_, lock, end);
        if (has_passed(end) && !table_.missing(keys).empty())
            throw_missing("the store of this process", keys, table_.missing(keys));
    }

// --- does-not-wait
// The keys are looked for once.
// region: libmini/distributed/store/hash_store.cpp
    const auto all_there = [&] { return table_.missing(keys).empty(); };
    if (!all_there())
        throw_missing("the store of this process", keys, table_.missing(keys));

// --- every-error-is-late
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

// --- last-rank-does-not-set
// Only rank 0 ends the barrier, and only if it is the last.
// region: libmini/distributed/rendezvous/store_barrier.cpp
    const int64_t arrived = store.add(name, 1);
    const std::string round = concat(name, "/", (arrived - 1) / world_size);
    store.set(concat(round, "/rank/", rank), "");
    if (rank == 0 && arrived % world_size == 0) store.set(concat(round, "/done"), "");
    try {
        store.wait({concat(round, "/done")}, deadline);
    } catch (const Timeout&) {
        throw_late(store, round, world_size);
    }

// --- names-all-keys
// The error names all keys.
// region: libmini/distributed/store/hash_store.cpp
    const auto all_there = [&] { return table_.missing(keys).empty(); };
    if (!wait_on(changed_, lock, deadline, all_there))
        throw_missing("the store of this process", keys, keys);

// --- no-deadline
// The wait has no deadline.
// region: libmini/distributed/store/hash_store.cpp
    const auto all_there = [&] { return table_.missing(keys).empty(); };
    if (!wait_on(changed_, lock, kNever, all_there))
        throw_missing("the store of this process", keys, table_.missing(keys));

// --- no-rank-keys
// No rank sets a key of its own, so all are missing.
// region: libmini/distributed/rendezvous/store_barrier.cpp
    const int64_t arrived = store.add(name, 1);
    const std::string round = concat(name, "/", (arrived - 1) / world_size);
    if (arrived % world_size == 0) store.set(concat(round, "/done"), "");
    try {
        store.wait({concat(round, "/done")}, deadline);
    } catch (const Timeout&) {
        throw_late(store, round, world_size);
    }

// --- no-client-is-named
// The error of the wait is passed on: it names a key, and no rank.
// region: libmini/distributed/rendezvous/store_barrier.cpp
    const int64_t arrived = store.add(name, 1);
    const std::string round = concat(name, "/", (arrived - 1) / world_size);
    store.set(concat(round, "/rank/", rank), "");
    if (arrived % world_size == 0) store.set(concat(round, "/done"), "");
    try {
        store.wait({concat(round, "/done")}, deadline);
    } catch (const Timeout&) {
        throw;
    }

// --- one-done-key
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

// --- rank-0-ends-it
// Rank 0 ends the barrier, whether all have come or not.
// region: libmini/distributed/rendezvous/store_barrier.cpp
    const int64_t arrived = store.add(name, 1);
    const std::string round = concat(name, "/", (arrived - 1) / world_size);
    store.set(concat(round, "/rank/", rank), "");
    if (rank == 0) store.set(concat(round, "/done"), "");
    try {
        store.wait({concat(round, "/done")}, deadline);
    } catch (const Timeout&) {
        throw_late(store, round, world_size);
    }

// --- rank-keys-of-all-rounds
// The keys of the ranks are not of a round.
// region: libmini/distributed/rendezvous/store_barrier.cpp
    const int64_t arrived = store.add(name, 1);
    const std::string round = concat(name, "/", (arrived - 1) / world_size);
    store.set(concat(name, "/0/rank/", rank), "");
    if (arrived % world_size == 0) store.set(concat(round, "/done"), "");
    try {
        store.wait({concat(round, "/done")}, deadline);
    } catch (const Timeout&) {
        throw_late(store, round, world_size);
    }

// --- round-from-arrived
// The round is arrived / world_size: the last rank of a round is in the next one.
// region: libmini/distributed/rendezvous/store_barrier.cpp
    const int64_t arrived = store.add(name, 1);
    const std::string round = concat(name, "/", arrived / world_size);
    store.set(concat(round, "/rank/", rank), "");
    if (arrived % world_size == 0) store.set(concat(round, "/done"), "");
    try {
        store.wait({concat(round, "/done")}, deadline);
    } catch (const Timeout&) {
        throw_late(store, round, world_size);
    }

// --- time-first
// The time is asked for before the keys are looked for.
// region: libmini/distributed/store/hash_store.cpp
    const auto all_there = [&] { return table_.missing(keys).empty(); };
    if (has_passed(deadline) || !wait_on(changed_, lock, deadline, all_there))
        throw_missing("the store of this process", keys, table_.missing(keys));

// --- timeout-returns
// The deadline ends the wait without an error.
// region: libmini/distributed/store/hash_store.cpp
    const auto all_there = [&] { return table_.missing(keys).empty(); };
    wait_on(changed_, lock, deadline, all_there);
