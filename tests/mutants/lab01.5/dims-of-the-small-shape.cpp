// Dimensions are numbered as in the smaller shape.
// region: libmini/tensor/broadcast.cpp 3
    const size_t added = to.size() - from.size();
    for (size_t d = 0; d < from.size(); ++d)
        if (from[d] != to[d + added]) dims.push_back(static_cast<int64_t>(d));
