// The position in the list is taken for the rank.
// region: libmini/distributed/group/monitored_barrier.cpp 2
    std::vector<WorkHandle> arrivals;
    for (int rank = 1; rank < group.world_size(); ++rank)
        arrivals.push_back(
            group.start(point_call(Operation::kRecv, rank, kArrivedTag, timeout)));
    for (size_t i = 0; i < arrivals.size() && (all || missing.empty()); ++i) {
        try {
            arrivals[i]->wait();
        } catch (const Timeout&) {
            missing.push_back(static_cast<int>(i));
        }
    }
