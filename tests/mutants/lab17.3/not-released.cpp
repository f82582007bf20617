// A rank passes as soon as it has arrived.
// region: libmini/distributed/group/monitored_barrier.cpp 1
    group.start(point_call(Operation::kSend, 0, kArrivedTag, timeout))->wait();
