// --- check-then-set
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

// --- host-not-compared
// The hosts are not compared.
// region: libmini/distributed/rendezvous/seat.cpp 1
    const std::string seated =
        store.compare_set(seat_key(config.rank), "", to_text(mine));
    if (seated != to_text(mine))
        return two_processes_text(config, parse_seat(seated), mine);
    const Seat first = parse_seat(store.get(seat_key(0), deadline));
    if (first.world_size != config.world_size)
        return world_sizes_text(config, first, mine);
    return "";

// --- joined-not-asked
// Only the seats are looked at: a rank that joined is called stopped.
// region: libmini/distributed/rendezvous/seat.cpp 2
    if (!store.check(seat_key(rank))) return concat("rank ", rank);
    if (rank != 0 && !store.check(seat_key(0))) return "";
    return stopped_text(store, rank);

// --- larger-world-only
// Only a larger world size than that of rank 0 is an error.
// region: libmini/distributed/rendezvous/seat.cpp 1
    const std::string seated =
        store.compare_set(seat_key(config.rank), "", to_text(mine));
    if (seated != to_text(mine))
        return two_processes_text(config, parse_seat(seated), mine);
    const Seat first = parse_seat(store.get(seat_key(0), deadline));
    if (first.world_size < config.world_size)
        return world_sizes_text(config, first, mine);
    return host_fault(config, local_host, first, mine);

// --- looked-then-set
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

// --- no-deadline
// The wait for rank 0 takes the store's own timeout.
// region: libmini/distributed/rendezvous/seat.cpp 1
    const std::string seated =
        store.compare_set(seat_key(config.rank), "", to_text(mine));
    if (seated != to_text(mine))
        return two_processes_text(config, parse_seat(seated), mine);
    const Seat first = parse_seat(store.get(seat_key(0), kNever));
    if (first.world_size != config.world_size)
        return world_sizes_text(config, first, mine);
    return host_fault(config, local_host, first, mine);

// --- rank-0-first
// The rank waits for rank 0 before it sees that its seat is taken.
// region: libmini/distributed/rendezvous/seat.cpp 1
    const std::string seated =
        store.compare_set(seat_key(config.rank), "", to_text(mine));
    store.wait({seat_key(0)}, deadline);
    if (seated != to_text(mine))
        return two_processes_text(config, parse_seat(seated), mine);
    const Seat first = parse_seat(store.get(seat_key(0), deadline));
    if (first.world_size != config.world_size)
        return world_sizes_text(config, first, mine);
    return host_fault(config, local_host, first, mine);

// --- reads-before-it-writes
// The rank waits for rank 0 before it writes its own entry.
// region: libmini/distributed/rendezvous/seat.cpp 1
    const bool is_first = config.rank == 0;
    if (!is_first) store.wait({seat_key(0)}, deadline);
    const std::string seated = store.compare_set(seat_key(config.rank), "", to_text(mine));
    if (seated != to_text(mine)) return two_processes_text(config, parse_seat(seated), mine);
    const Seat first = parse_seat(store.get(seat_key(0), deadline));
    if (first.world_size != config.world_size) return world_sizes_text(config, first, mine);
    return host_fault(config, local_host, first, mine);

// --- same-process-same-seat
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

// --- seat-means-joined
// A rank with a seat counts as joined.
// region: libmini/distributed/rendezvous/seat.cpp 2
    if (store.check(joined_key(rank))) return "";
    if (!store.check(seat_key(rank))) return concat("rank ", rank);
    if (rank != 0 && !store.check(seat_key(0))) return "";
    return "";

// --- texts-swapped
// The two seats are swapped in the text.
// region: libmini/distributed/rendezvous/seat.cpp 1
    const std::string seated =
        store.compare_set(seat_key(config.rank), "", to_text(mine));
    if (seated != to_text(mine))
        return two_processes_text(config, parse_seat(seated), mine);
    const Seat first = parse_seat(store.get(seat_key(0), deadline));
    if (first.world_size != config.world_size)
        return world_sizes_text(config, mine, first);
    return host_fault(config, local_host, first, mine);

// --- waiting-rank-is-blamed
// A rank that waits for rank 0 is blamed.
// region: libmini/distributed/rendezvous/seat.cpp 2
    if (store.check(joined_key(rank))) return "";
    if (!store.check(seat_key(rank))) return concat("rank ", rank);
    return stopped_text(store, rank);

// --- world-size-not-compared
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
