// The rounds begin with the neighbour: right, but other partners get the large halves.
// region: libmini/distributed/collectives/halving_doubling.cpp 1
        for (int bit = 1; bit < Q; bit *= 2) {
            const Halves halves = split(mine, transport.rank(), bit);
            transport.send_recv(halves.partner, halves.theirs.bytes, halves.partner,
                                halves.mine.bytes, combine);
            mine = halves.mine;
            rounds.push_back(halves);
        }
