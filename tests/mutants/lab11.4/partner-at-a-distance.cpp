// The partner is rank + bit, as in the barrier: what comes from rank - bit is added.
// region: libmini/distributed/collectives/recursive_doubling.cpp 1
        for (int bit = 1; bit < Q; bit *= 2) {
            const int to = (rank + bit) % Q, from = (rank - bit + Q) % Q;
            transport.send_recv(to, data.bytes, from, theirs);
            combine.apply(data.bytes.data(), theirs.data(), data.size());
        }
