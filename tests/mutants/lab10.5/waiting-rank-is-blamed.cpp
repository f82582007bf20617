// A rank that waits for rank 0 is blamed.
// region: libmini/distributed/rendezvous/seat.cpp 2
    if (store.check(joined_key(rank))) return "";
    if (!store.check(seat_key(rank))) return concat("rank ", rank);
    return stopped_text(store, rank);
