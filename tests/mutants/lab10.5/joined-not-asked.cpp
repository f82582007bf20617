// Only the seats are looked at: a rank that joined is called stopped.
// region: libmini/distributed/rendezvous/seat.cpp 2
    if (!store.check(seat_key(rank))) return concat("rank ", rank);
    if (rank != 0 && !store.check(seat_key(0))) return "";
    return stopped_text(store, rank);
