// Only the rank that collects calls the broadcasts.
// region: libmini/parallel/zero.cpp 2
    if (group_->rank() == to)
        for (int from = to; from < to + P; ++from) {
            optim::OptimizerState theirs = broadcast_state(*group_, mine, from % P);
            all.tensors.merge(theirs.tensors);
            all.numbers.merge(theirs.numbers);
        }
