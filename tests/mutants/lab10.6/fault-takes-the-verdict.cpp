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
