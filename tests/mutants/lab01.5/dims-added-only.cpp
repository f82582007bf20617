// Only added dimensions are listed.
// region: libmini/tensor/broadcast.cpp 3
    for (size_t d = 0; d < to.size() - from.size(); ++d)
        dims.push_back(static_cast<int64_t>(d));
