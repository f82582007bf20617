// The warning is repeated in each turn of the wait.
// region: libmini/distributed/transport/mesh_transport.cpp 1
    if (has_passed(deadline_ - timeout_ / 2)) warn(awaited);
    if (has_passed(deadline_))
        detector_.deadline_passed(awaited, describe_wait(awaited), timeout_);
