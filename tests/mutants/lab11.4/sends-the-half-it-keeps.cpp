// A rank sends the half that it keeps.
// region: libmini/distributed/collectives/halving_doubling.cpp 1
        for (int bit = Q / 2; bit > 0; bit /= 2) {
            const Halves halves = split(mine, transport.rank(), bit);
            std::vector<std::byte> kept(halves.mine.bytes.begin(),
                                        halves.mine.bytes.end());
            transport.send_recv(halves.partner, kept, halves.partner,
                                halves.mine.bytes, combine);
            mine = halves.mine;
            rounds.push_back(halves);
        }
