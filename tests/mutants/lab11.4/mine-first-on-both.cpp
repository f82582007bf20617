// Both partners put their own data first.
// region: libmini/distributed/collectives/recursive_doubling.cpp 1
        for (int bit = 1; bit < Q; bit *= 2) {
            const int partner = rank ^ bit;
            transport.send_recv(partner, data.bytes, partner, theirs);
            combine.apply(data.bytes.data(), theirs.data(), data.size());
        }
