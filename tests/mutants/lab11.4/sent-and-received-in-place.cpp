// One send_recv sends the buffer and combines into it, so the two overlap.
// region: libmini/distributed/collectives/recursive_doubling.cpp 1
        for (int bit = 1; bit < Q; bit *= 2) {
            const int partner = rank ^ bit;
            transport.send_recv(partner, data.bytes, partner, data.bytes, combine);
        }
