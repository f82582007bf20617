// --- collective-inside-if
// Only the rank that collects calls the broadcasts.
// region: libmini/parallel/zero.cpp 2
    if (group_->rank() == to)
        for (int from = to; from < to + P; ++from) {
            optim::OptimizerState theirs = broadcast_state(*group_, mine, from % P);
            all.tensors.merge(theirs.tensors);
            all.numbers.merge(theirs.numbers);
        }

// --- dummy-is-sent
// A rank that owns nothing sends the state of its dummy as that of parameter 0.
// region: libmini/parallel/zero.cpp 1
    return renumbered(local_->state_dict(), [&](size_t local) -> std::optional<size_t> {
        if (local >= indices.size()) return local;
        return indices[local];
    });

// --- left-out-is-kept
// An entry without a new name keeps its old name.
// region: libmini/parallel/zero_state.cpp 1
    for (const auto& [name, tensor] : state.tensors)
        result.tensors[renamed(name, new_number).value_or(name)] = tensor;
    for (const auto& [name, number] : state.numbers)
        result.numbers[renamed(name, new_number).value_or(name)] = number;

// --- numbers-forgotten
// The options and the numbers of steps are not collected.
// region: libmini/parallel/zero.cpp 2
    for (int from = to; from < to + P; ++from) {
        optim::OptimizerState theirs = broadcast_state(*group_, mine, from % P);
        if (group_->rank() != to) continue;
        all.tensors.merge(theirs.tensors);
        
    }

// --- numbers-keep-their-names
// state.N.step keeps the old number of its parameter.
// region: libmini/parallel/zero_state.cpp 1
    for (const auto& [name, tensor] : state.tensors)
        if (const auto other = renamed(name, new_number)) result.tensors[*other] = tensor;
    result.numbers = state.numbers;

// --- own-numbers
// Names keep the numbers of local_: every rank sends a parameter 0.
// region: libmini/parallel/zero.cpp 1
    static_cast<void>(indices);
    return local_->state_dict();

// --- own-part-left-out
// The rank that collects takes the state of the others only.
// region: libmini/parallel/zero.cpp 2
    for (int from = to + 1; from < to + P; ++from) {
        optim::OptimizerState theirs = broadcast_state(*group_, mine, from % P);
        if (group_->rank() != to) continue;
        all.tensors.merge(theirs.tensors);
        all.numbers.merge(theirs.numbers);
    }

// --- own-part-shared
// The own part shares memory with local_: the next step changes the checkpoint.
// region: libmini/parallel/zero.cpp 2
    if (group_->rank() == to) all = mine;
    for (int from = to; from < to + P; ++from) {
        optim::OptimizerState theirs = broadcast_state(*group_, mine, from % P);
        if (group_->rank() != to) continue;
        all.tensors.merge(theirs.tensors);
        all.numbers.merge(theirs.numbers);
    }

// --- rank-0-first
// Options have rank 0's values, also when another rank collects.
// region: libmini/parallel/zero.cpp 2
    for (int from = 0; from < P; ++from) {
        optim::OptimizerState theirs = broadcast_state(*group_, mine, from % P);
        if (group_->rank() != to) continue;
        all.tensors.merge(theirs.tensors);
        all.numbers.merge(theirs.numbers);
    }
