// A rank with a seat counts as joined.
// region: libmini/distributed/rendezvous/seat.cpp 2
    if (store.check(joined_key(rank))) return "";
    if (!store.check(seat_key(rank))) return concat("rank ", rank);
    if (rank != 0 && !store.check(seat_key(0))) return "";
    return "";
