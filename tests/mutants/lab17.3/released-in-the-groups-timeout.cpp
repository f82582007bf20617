// A rank waits for its release for the timeout of the group.
// region: libmini/distributed/group/monitored_barrier.cpp 1
    group.start(point_call(Operation::kSend, 0, kArrivedTag, timeout))->wait();
    group.start(point_call(Operation::kRecv, 0, kReleasedTag, group.timeout()))->wait();
