// Tensors with equal values count as the same tensor.
// region: libmini/nn/module.cpp 1
    std::vector<std::vector<float>> seen;
    std::erase_if(tensors, [&](const auto& entry) {
        if (entry.second.dtype() != DType::kFloat32) return false;
        const auto values = entry.second.template to_vector<float>();
        if (std::ranges::find(seen, values) != seen.end()) return true;
        seen.push_back(values);
        return false;
    });
