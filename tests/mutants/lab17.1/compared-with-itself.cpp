// An equal collective with the same number is compared with itself.
// region: libmini/distributed/transport/collective.cpp 1
    const Collective& same_number = last_[theirs.sequence % kKept];
    return same_number.sequence == theirs.sequence ? same_number : current_;
