// The process id tells the seats apart, and not the random number.
// region: libmini/distributed/rendezvous/seat.cpp 1
    const std::string seated =
        store.compare_set(seat_key(config.rank), "", to_text(mine));
    if (parse_seat(seated).process != mine.process)
        return two_processes_text(config, parse_seat(seated), mine);
    const Seat first = parse_seat(store.get(seat_key(0), deadline));
    if (first.world_size != config.world_size)
        return world_sizes_text(config, first, mine);
    return host_fault(config, local_host, first, mine);
