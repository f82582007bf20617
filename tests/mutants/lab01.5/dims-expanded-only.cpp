// Only expanded dimensions are listed.
// region: libmini/tensor/broadcast.cpp 3
    const size_t added = to.size() - from.size();
    for (size_t d = added; d < to.size(); ++d)
        if (from[d - added] != to[d]) dims.push_back(static_cast<int64_t>(d));
