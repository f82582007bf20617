// A rank gives up while rank 0 may still wait.
// region: libmini/distributed/group/monitored_barrier.cpp 1
    group.start(point_call(Operation::kSend, 0, kArrivedTag, timeout))->wait();
    group.start(point_call(Operation::kRecv, 0, kReleasedTag, timeout))->wait();
