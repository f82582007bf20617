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
