// --- doubling-adds
// The finished halves are added to the partial sums.
// region: libmini/distributed/collectives/halving_doubling.cpp 2
        for (; !rounds.empty(); rounds.pop_back()) {
            const Halves& halves = rounds.back();
            transport.send_recv(halves.partner, halves.mine.bytes, halves.partner,
                                halves.theirs.bytes, combine);
        }

// --- doubling-in-the-same-order
// The doubling begins with the largest half, which is not finished yet.
// region: libmini/distributed/collectives/halving_doubling.cpp 2
        for (const Halves& halves : rounds)
            transport.send_recv(halves.partner, halves.mine.bytes, halves.partner,
                                halves.theirs.bytes);

// --- halving-from-the-lowest-bit
// The rounds begin with the neighbour: right, but other partners get the large halves.
// region: libmini/distributed/collectives/halving_doubling.cpp 1
        for (int bit = 1; bit < Q; bit *= 2) {
            const Halves halves = split(mine, transport.rank(), bit);
            transport.send_recv(halves.partner, halves.theirs.bytes, halves.partner,
                                halves.mine.bytes, combine);
            mine = halves.mine;
            rounds.push_back(halves);
        }

// --- halving-keeps-all
// Each round sends half of the whole buffer, not of the part that is left.
// region: libmini/distributed/collectives/halving_doubling.cpp 1
        for (int bit = Q / 2; bit > 0; bit /= 2) {
            const Halves halves = split(data, transport.rank(), bit);
            transport.send_recv(halves.partner, halves.theirs.bytes, halves.partner,
                                halves.mine.bytes, combine);
            mine = halves.mine;
            rounds.push_back(halves);
        }

// --- halving-prepares-each-half
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

// --- mine-first-on-both
// Both partners put their own data first.
// region: libmini/distributed/collectives/recursive_doubling.cpp 1
        for (int bit = 1; bit < Q; bit *= 2) {
            const int partner = rank ^ bit;
            transport.send_recv(partner, data.bytes, partner, theirs);
            combine.apply(data.bytes.data(), theirs.data(), data.size());
        }

// --- neighbours-only
// The partner is always the neighbour.
// region: libmini/distributed/collectives/recursive_doubling.cpp 1
        for (int bit = 1; bit < Q; bit *= 2) {
            const int partner = rank ^ 1;
            transport.send_recv(partner, data.bytes, partner, theirs);
            if (rank < partner) {
                combine.apply(data.bytes.data(), theirs.data(), data.size());
            } else {
                combine.apply(theirs.data(), data.bytes.data(), data.size());
                std::ranges::copy(theirs, data.bytes.begin());
            }
        }

// --- partner-at-a-distance
// The partner is rank + bit, as in the barrier: what comes from rank - bit is added.
// region: libmini/distributed/collectives/recursive_doubling.cpp 1
        for (int bit = 1; bit < Q; bit *= 2) {
            const int to = (rank + bit) % Q, from = (rank - bit + Q) % Q;
            transport.send_recv(to, data.bytes, from, theirs);
            combine.apply(data.bytes.data(), theirs.data(), data.size());
        }

// --- received-in-place
// The partner's data is received into the buffer that is being sent, and combined there.
// region: libmini/distributed/collectives/recursive_doubling.cpp 1
        for (int bit = 1; bit < Q; bit *= 2) {
            const int partner = rank ^ bit;
            transport.send(partner, data.bytes);
            transport.recv(partner, data.bytes, combine);
        }

// --- result-left-in-theirs
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

// --- rounds-not-kept
// The rounds are not kept, so that there is nothing to double.
// region: libmini/distributed/collectives/halving_doubling.cpp 1
        for (int bit = Q / 2; bit > 0; bit /= 2) {
            const Halves halves = split(mine, transport.rank(), bit);
            transport.send_recv(halves.partner, halves.theirs.bytes, halves.partner,
                                halves.mine.bytes, combine);
            mine = halves.mine;
        }

// --- sends-the-half-it-keeps
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

// --- sent-and-received-in-place
// One send_recv sends the buffer and combines into it, so the two overlap.
// region: libmini/distributed/collectives/recursive_doubling.cpp 1
        for (int bit = 1; bit < Q; bit *= 2) {
            const int partner = rank ^ bit;
            transport.send_recv(partner, data.bytes, partner, data.bytes, combine);
        }
