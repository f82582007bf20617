// A wait warns, but never ends.
// region: libmini/distributed/transport/mesh_transport.cpp 1
    if (!has_warned_ && has_passed(deadline_ - timeout_ / 2)) {
        has_warned_ = true;
        warn(awaited);
    }
