// Every dimension that has size 1 is listed, expanded or not.
// region: libmini/tensor/broadcast.cpp 3
    const size_t added = to.size() - from.size();
    for (size_t d = 0; d < to.size(); ++d)
        if (d < added || from[d - added] == 1) dims.push_back(static_cast<int64_t>(d));
