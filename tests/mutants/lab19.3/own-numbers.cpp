// Names keep the numbers of local_: every rank sends a parameter 0.
// region: libmini/parallel/zero.cpp 1
    static_cast<void>(indices);
    return local_->state_dict();
