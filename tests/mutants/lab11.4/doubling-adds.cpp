// The finished halves are added to the partial sums.
// region: libmini/distributed/collectives/halving_doubling.cpp 2
        for (; !rounds.empty(); rounds.pop_back()) {
            const Halves& halves = rounds.back();
            transport.send_recv(halves.partner, halves.mine.bytes, halves.partner,
                                halves.theirs.bytes, combine);
        }
