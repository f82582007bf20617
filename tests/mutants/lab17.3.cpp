// --- always-all
// All missing ranks are collected in any case.
// region: libmini/distributed/group/monitored_barrier.cpp 2
    std::vector<WorkHandle> arrivals;
    for (int rank = 1; rank < group.world_size(); ++rank)
        arrivals.push_back(
            group.start(point_call(Operation::kRecv, rank, kArrivedTag, timeout)));
    for (size_t i = 0; i < arrivals.size(); ++i) {
        try {
            arrivals[i]->wait();
        } catch (const Timeout&) {
            missing.push_back(static_cast<int>(i) + 1);
        }
    }

// --- index-for-rank
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

// --- last-rank-forgotten
// The last rank is not waited for.
// region: libmini/distributed/group/monitored_barrier.cpp 2
    std::vector<WorkHandle> arrivals;
    for (int rank = 1; rank + 1 < group.world_size(); ++rank)
        arrivals.push_back(
            group.start(point_call(Operation::kRecv, rank, kArrivedTag, timeout)));
    for (size_t i = 0; i < arrivals.size() && (all || missing.empty()); ++i) {
        try {
            arrivals[i]->wait();
        } catch (const Timeout&) {
            missing.push_back(static_cast<int>(i) + 1);
        }
    }

// --- lost-counts-as-missing
// A lost rank is reported as late.
// region: libmini/distributed/group/monitored_barrier.cpp 2
    std::vector<WorkHandle> arrivals;
    for (int rank = 1; rank < group.world_size(); ++rank)
        arrivals.push_back(
            group.start(point_call(Operation::kRecv, rank, kArrivedTag, timeout)));
    for (size_t i = 0; i < arrivals.size() && (all || missing.empty()); ++i) {
        try {
            arrivals[i]->wait();
        } catch (const Error&) {
            missing.push_back(static_cast<int>(i) + 1);
        }
    }

// --- not-released
// A rank passes as soon as it has arrived.
// region: libmini/distributed/group/monitored_barrier.cpp 1
    group.start(point_call(Operation::kSend, 0, kArrivedTag, timeout))->wait();

// --- one-after-the-other
// Rank 0 waits for one rank after the other, a timeout each.
// region: libmini/distributed/group/monitored_barrier.cpp 2
    for (int rank = 1; rank < group.world_size() && (all || missing.empty()); ++rank) {
        try {
            group.start(point_call(Operation::kRecv, rank, kArrivedTag, timeout))->wait();
        } catch (const Timeout&) {
            missing.push_back(rank);
        }
    }

// --- release-in-one-timeout
// A rank gives up while rank 0 may still wait.
// region: libmini/distributed/group/monitored_barrier.cpp 1
    group.start(point_call(Operation::kSend, 0, kArrivedTag, timeout))->wait();
    group.start(point_call(Operation::kRecv, 0, kReleasedTag, timeout))->wait();

// --- released-in-the-groups-timeout
// A rank waits for its release for the timeout of the group.
// region: libmini/distributed/group/monitored_barrier.cpp 1
    group.start(point_call(Operation::kSend, 0, kArrivedTag, timeout))->wait();
    group.start(point_call(Operation::kRecv, 0, kReleasedTag, group.timeout()))->wait();
