// The rank that collects takes the state of the others only.
// region: libmini/parallel/zero.cpp 2
    for (int from = to + 1; from < to + P; ++from) {
        optim::OptimizerState theirs = broadcast_state(*group_, mine, from % P);
        if (group_->rank() != to) continue;
        all.tensors.merge(theirs.tensors);
        all.numbers.merge(theirs.numbers);
    }
