// state.N.step keeps the old number of its parameter.
// region: libmini/parallel/zero_state.cpp 1
    for (const auto& [name, tensor] : state.tensors)
        if (const auto other = renamed(name, new_number)) result.tensors[*other] = tensor;
    result.numbers = state.numbers;
