// The rank waits for rank 0 before it writes its own entry.
// region: libmini/distributed/rendezvous/seat.cpp 1
    const bool is_first = config.rank == 0;
    if (!is_first) store.wait({seat_key(0)}, deadline);
    const std::string seated = store.compare_set(seat_key(config.rank), "", to_text(mine));
    if (seated != to_text(mine)) return two_processes_text(config, parse_seat(seated), mine);
    const Seat first = parse_seat(store.get(seat_key(0), deadline));
    if (first.world_size != config.world_size) return world_sizes_text(config, first, mine);
    return host_fault(config, local_host, first, mine);
