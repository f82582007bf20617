// --- every-error-is-too-late
// Every error of the store is taken for a deadline that has passed.
// region: libmini/distributed/rendezvous/agreement.cpp 2
    try {
        const std::string fault = take_seat(store, config, local_host, deadline);
        if (!fault.empty()) {
            give_verdict(store, concat(kContradiction, fault));
            release(store, config);
            return concat(kContradiction, fault);
        }
        store.set(joined_key(config.rank), "");
        store.wait(of_all(joined_key, config.world_size), deadline);
        return give_verdict(store, kAllJoined);
    } catch (const Error&) {
        const std::string verdict =
            give_verdict(store, concat(kTooLate, too_late_text(store, config)));
        release(store, config);
        return verdict;
    }

// --- fault-not-given
// A rank with a fault keeps it to itself.
// region: libmini/distributed/rendezvous/agreement.cpp 2
    try {
        const std::string fault = take_seat(store, config, local_host, deadline);
        if (!fault.empty()) {
            release(store, config);
            return concat(kContradiction, fault);
        }
        store.set(joined_key(config.rank), "");
        store.wait(of_all(joined_key, config.world_size), deadline);
        return give_verdict(store, kAllJoined);
    } catch (const Timeout&) {
        const std::string verdict =
            give_verdict(store, concat(kTooLate, too_late_text(store, config)));
        release(store, config);
        return verdict;
    }

// --- fault-not-released
// A rank with a fault does not release the others.
// region: libmini/distributed/rendezvous/agreement.cpp 2
    try {
        const std::string fault = take_seat(store, config, local_host, deadline);
        if (!fault.empty()) {
            give_verdict(store, concat(kContradiction, fault));
            return concat(kContradiction, fault);
        }
        store.set(joined_key(config.rank), "");
        store.wait(of_all(joined_key, config.world_size), deadline);
        return give_verdict(store, kAllJoined);
    } catch (const Timeout&) {
        const std::string verdict =
            give_verdict(store, concat(kTooLate, too_late_text(store, config)));
        release(store, config);
        return verdict;
    }

// --- fault-takes-the-verdict
// A rank with a fault returns the verdict in the store, even if that is ok.
// region: libmini/distributed/rendezvous/agreement.cpp 2
    try {
        const std::string fault = take_seat(store, config, local_host, deadline);
        if (!fault.empty()) {
            const std::string verdict = give_verdict(store, concat(kContradiction, fault));
            release(store, config);
            return verdict;
        }
        store.set(joined_key(config.rank), "");
        store.wait(of_all(joined_key, config.world_size), deadline);
        return give_verdict(store, kAllJoined);
    } catch (const Timeout&) {
        const std::string verdict =
            give_verdict(store, concat(kTooLate, too_late_text(store, config)));
        release(store, config);
        return verdict;
    }

// --- joined-not-set
// A rank waits for all, and does not say that it has joined.
// region: libmini/distributed/rendezvous/agreement.cpp 2
    try {
        const std::string fault = take_seat(store, config, local_host, deadline);
        if (!fault.empty()) {
            give_verdict(store, concat(kContradiction, fault));
            release(store, config);
            return concat(kContradiction, fault);
        }
        store.wait(of_all(joined_key, config.world_size), deadline);
        return give_verdict(store, kAllJoined);
    } catch (const Timeout&) {
        const std::string verdict =
            give_verdict(store, concat(kTooLate, too_late_text(store, config)));
        release(store, config);
        return verdict;
    }

// --- last-verdict-counts
// The last verdict counts, although others have read the first.
// region: libmini/distributed/rendezvous/agreement.cpp 1
    store.set(kVerdict, verdict);
    return verdict;

// --- looked-then-set
// The verdict is looked for, and then set: another rank may come in between.
// region: libmini/distributed/rendezvous/agreement.cpp 1
    if (!store.check(kVerdict)) store.set(kVerdict, verdict);
    return store.get(kVerdict, deadline_after(kSeatReadTimeout));

// --- no-wait
// A rank goes on without waiting for the others.
// region: libmini/distributed/rendezvous/agreement.cpp 2
    try {
        const std::string fault = take_seat(store, config, local_host, deadline);
        if (!fault.empty()) {
            give_verdict(store, concat(kContradiction, fault));
            release(store, config);
            return concat(kContradiction, fault);
        }
        store.set(joined_key(config.rank), "");
        return give_verdict(store, kAllJoined);
    } catch (const Timeout&) {
        const std::string verdict =
            give_verdict(store, concat(kTooLate, too_late_text(store, config)));
        release(store, config);
        return verdict;
    }

// --- own-verdict
// Each rank believes its own verdict.
// region: libmini/distributed/rendezvous/agreement.cpp 1
    store.compare_set(kVerdict, "", verdict);
    return verdict;

// --- released-before-the-verdict
// The others are released before the verdict is given.
// region: libmini/distributed/rendezvous/agreement.cpp 2
    try {
        const std::string fault = take_seat(store, config, local_host, deadline);
        if (!fault.empty()) {
            give_verdict(store, concat(kContradiction, fault));
            release(store, config);
            return concat(kContradiction, fault);
        }
        store.set(joined_key(config.rank), "");
        store.wait(of_all(joined_key, config.world_size), deadline);
        return give_verdict(store, kAllJoined);
    } catch (const Timeout&) {
        release(store, config);
        const std::string verdict =
            give_verdict(store, concat(kTooLate, too_late_text(store, config)));
        return verdict;
    }

// --- timeout-not-released
// A rank that gives up does not release the others.
// region: libmini/distributed/rendezvous/agreement.cpp 2
    try {
        const std::string fault = take_seat(store, config, local_host, deadline);
        if (!fault.empty()) {
            give_verdict(store, concat(kContradiction, fault));
            release(store, config);
            return concat(kContradiction, fault);
        }
        store.set(joined_key(config.rank), "");
        store.wait(of_all(joined_key, config.world_size), deadline);
        return give_verdict(store, kAllJoined);
    } catch (const Timeout&) {
        const std::string verdict =
            give_verdict(store, concat(kTooLate, too_late_text(store, config)));
        return verdict;
    }

// --- timeout-passed-on
// A rank that gives up passes on the error of its wait.
// region: libmini/distributed/rendezvous/agreement.cpp 2
    try {
        const std::string fault = take_seat(store, config, local_host, deadline);
        if (!fault.empty()) {
            give_verdict(store, concat(kContradiction, fault));
            release(store, config);
            return concat(kContradiction, fault);
        }
        store.set(joined_key(config.rank), "");
        store.wait(of_all(joined_key, config.world_size), deadline);
        return give_verdict(store, kAllJoined);
    } catch (const Timeout&) {
        throw;
        const std::string verdict =
            give_verdict(store, concat(kTooLate, too_late_text(store, config)));
        release(store, config);
        return verdict;
    }

// --- verdict-not-read
// A rank that saw all join does not read the verdict.
// region: libmini/distributed/rendezvous/agreement.cpp 2
    try {
        const std::string fault = take_seat(store, config, local_host, deadline);
        if (!fault.empty()) {
            give_verdict(store, concat(kContradiction, fault));
            release(store, config);
            return concat(kContradiction, fault);
        }
        store.set(joined_key(config.rank), "");
        store.wait(of_all(joined_key, config.world_size), deadline);
        give_verdict(store, kAllJoined);
        return kAllJoined;
    } catch (const Timeout&) {
        const std::string verdict =
            give_verdict(store, concat(kTooLate, too_late_text(store, config)));
        release(store, config);
        return verdict;
    }
