// Options have rank 0's values, also when another rank collects.
// region: libmini/parallel/zero.cpp 2
    for (int from = 0; from < P; ++from) {
        optim::OptimizerState theirs = broadcast_state(*group_, mine, from % P);
        if (group_->rank() != to) continue;
        all.tensors.merge(theirs.tensors);
        all.numbers.merge(theirs.numbers);
    }
