// The options and the numbers of steps are not collected.
// region: libmini/parallel/zero.cpp 2
    for (int from = to; from < to + P; ++from) {
        optim::OptimizerState theirs = broadcast_state(*group_, mine, from % P);
        if (group_->rank() != to) continue;
        all.tensors.merge(theirs.tensors);
        
    }
