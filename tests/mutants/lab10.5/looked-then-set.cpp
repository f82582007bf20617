// The seat is looked at, and then set: another process may come in between.
// region: libmini/distributed/rendezvous/seat.cpp 1
    const std::string key = seat_key(config.rank);
    if (!store.check(key)) store.set(key, to_text(mine));
    const std::string seated = store.get(key, deadline);
    if (seated != to_text(mine))
        return two_processes_text(config, parse_seat(seated), mine);
    const Seat first = parse_seat(store.get(seat_key(0), deadline));
    if (first.world_size != config.world_size)
        return world_sizes_text(config, first, mine);
    return host_fault(config, local_host, first, mine);
