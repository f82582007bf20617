// An entry without a new name keeps its old name.
// region: libmini/parallel/zero_state.cpp 1
    for (const auto& [name, tensor] : state.tensors)
        result.tensors[renamed(name, new_number).value_or(name)] = tensor;
    for (const auto& [name, number] : state.numbers)
        result.numbers[renamed(name, new_number).value_or(name)] = number;
