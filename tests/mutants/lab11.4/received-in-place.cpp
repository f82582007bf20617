// The partner's data is received into the buffer that is being sent, and combined there.
// region: libmini/distributed/collectives/recursive_doubling.cpp 1
        for (int bit = 1; bit < Q; bit *= 2) {
            const int partner = rank ^ bit;
            transport.send(partner, data.bytes);
            transport.recv(partner, data.bytes, combine);
        }
