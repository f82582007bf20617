// The chain is not followed.
// region: libmini/distributed/net/root_cause.cpp 2
    return suspect;
