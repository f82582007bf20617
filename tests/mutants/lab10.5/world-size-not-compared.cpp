// The world size is not compared.
// region: libmini/distributed/rendezvous/seat.cpp 1
    const std::string seated =
        store.compare_set(seat_key(config.rank), "", to_text(mine));
    if (seated != to_text(mine))
        return two_processes_text(config, parse_seat(seated), mine);
    const Seat first = parse_seat(store.get(seat_key(0), deadline));
    if (first.world_size < 0)
        return world_sizes_text(config, first, mine);
    return host_fault(config, local_host, first, mine);
