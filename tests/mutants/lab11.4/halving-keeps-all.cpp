// Each round sends half of the whole buffer, not of the part that is left.
// region: libmini/distributed/collectives/halving_doubling.cpp 1
        for (int bit = Q / 2; bit > 0; bit /= 2) {
            const Halves halves = split(data, transport.rank(), bit);
            transport.send_recv(halves.partner, halves.theirs.bytes, halves.partner,
                                halves.mine.bytes, combine);
            mine = halves.mine;
            rounds.push_back(halves);
        }
