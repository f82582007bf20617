// The error always compares the current collective.
// region: libmini/distributed/transport/collective.cpp 1
    return theirs == current_ ? theirs : current_;
