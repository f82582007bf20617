// Each half is prepared again: an average of float16 is too small.
// region: libmini/distributed/collectives/halving_doubling.cpp 1
        for (int bit = Q / 2; bit > 0; bit /= 2) {
            const Halves halves = split(mine, transport.rank(), bit);
            prepare_reduce(mine, transport.world_size(), op);
            transport.send_recv(halves.partner, halves.theirs.bytes, halves.partner,
                                halves.mine.bytes, combine);
            mine = halves.mine;
            rounds.push_back(halves);
        }
