// The own part shares memory with local_: the next step changes the checkpoint.
// region: libmini/parallel/zero.cpp 2
    if (group_->rank() == to) all = mine;
    for (int from = to; from < to + P; ++from) {
        optim::OptimizerState theirs = broadcast_state(*group_, mine, from % P);
        if (group_->rank() != to) continue;
        all.tensors.merge(theirs.tensors);
        all.numbers.merge(theirs.numbers);
    }
