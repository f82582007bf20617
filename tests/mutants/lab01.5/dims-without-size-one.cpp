// An added dimension of size 1 is left out.
// region: libmini/tensor/broadcast.cpp 3
    const size_t added = to.size() - from.size();
    for (size_t d = 0; d < to.size(); ++d)
        if ((d < added ? 1 : from[d - added]) != to[d])
            dims.push_back(static_cast<int64_t>(d));
