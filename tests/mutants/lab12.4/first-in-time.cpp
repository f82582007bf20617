// The first failure in time is the suspect.
// region: libmini/distributed/net/root_cause.cpp 1
    return first_end(ends, seen, has_failed);
