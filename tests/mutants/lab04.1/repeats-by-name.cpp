// Repeats are found by name, but equal tensors have different names.
// region: libmini/nn/module.cpp 1
    std::unordered_set<std::string> seen;
    std::erase_if(tensors, [&](const auto& entry) { return !seen.insert(entry.first).second; });
