// Only rank 1 is released.
// region: libmini/distributed/group/monitored_barrier.cpp 3
    if (group.world_size() > 1)
        group.start(point_call(Operation::kSend, 1, kReleasedTag, timeout))->wait();
