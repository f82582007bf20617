// The last name of a shared tensor is kept instead of the first.
// region: libmini/nn/module.cpp 1
    std::unordered_set<const void*> seen;
    std::ranges::reverse(tensors);
    std::erase_if(tensors, [&](const auto& entry) { return !seen.insert(entry.second.id()).second; });
    std::ranges::reverse(tensors);
