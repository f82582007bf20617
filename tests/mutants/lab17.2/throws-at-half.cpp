// The wait ends after half of the timeout.
// region: libmini/distributed/transport/mesh_transport.cpp 1
    if (!has_warned_ && has_passed(deadline_ - timeout_ / 2)) {
        has_warned_ = true;
        detector_.deadline_passed(awaited, describe_wait(awaited), timeout_);
    }
