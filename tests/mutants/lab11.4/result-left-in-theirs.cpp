// The higher rank forgets to copy the result back.
// region: libmini/distributed/collectives/recursive_doubling.cpp 1
        for (int bit = 1; bit < Q; bit *= 2) {
            const int partner = rank ^ bit;
            transport.send_recv(partner, data.bytes, partner, theirs);
            if (rank < partner)
                combine.apply(data.bytes.data(), theirs.data(), data.size());
            else
                combine.apply(theirs.data(), data.bytes.data(), data.size());
        }
