// The seat is taken in two steps, and the second process overwrites the first.
// region: libmini/distributed/rendezvous/seat.cpp 1
    const std::string seated =
        to_text(mine);
    store.set(seat_key(config.rank), seated);
    if (seated != to_text(mine))
        return two_processes_text(config, parse_seat(seated), mine);
    const Seat first = parse_seat(store.get(seat_key(0), deadline));
    if (first.world_size != config.world_size)
        return world_sizes_text(config, first, mine);
    return host_fault(config, local_host, first, mine);
