// A shared tensor is dropped under all of its names.
// region: libmini/nn/module.cpp 1
    const NamedTensors all = tensors;
    std::erase_if(tensors, [&](const auto& entry) {
        return std::ranges::count_if(all, [&](const auto& other) {
                   return other.second.id() == entry.second.id();
               }) > 1;
    });
