// Partners by bits: right for powers of two only.
// region: libmini/distributed/collectives/dissemination_barrier.cpp 1
    for (int bit = 1; bit < P; bit *= 2)
        if ((rank ^ bit) < P) transport.send_recv(rank ^ bit, {}, rank ^ bit, {});
