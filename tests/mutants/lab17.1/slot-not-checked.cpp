// The slot is used even if it holds another sequence number.
// region: libmini/distributed/transport/collective.cpp 1
    const Collective& same_number = last_[theirs.sequence % kKept];
    return same_number != theirs ? same_number : current_;
