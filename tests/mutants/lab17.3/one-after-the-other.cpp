// Rank 0 waits for one rank after the other, a timeout each.
// region: libmini/distributed/group/monitored_barrier.cpp 2
    for (int rank = 1; rank < group.world_size() && (all || missing.empty()); ++rank) {
        try {
            group.start(point_call(Operation::kRecv, rank, kArrivedTag, timeout))->wait();
        } catch (const Timeout&) {
            missing.push_back(rank);
        }
    }
