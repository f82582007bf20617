// The doubling begins with the largest half, which is not finished yet.
// region: libmini/distributed/collectives/halving_doubling.cpp 2
        for (const Halves& halves : rounds)
            transport.send_recv(halves.partner, halves.mine.bytes, halves.partner,
                                halves.theirs.bytes);
