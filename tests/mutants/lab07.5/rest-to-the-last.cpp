// The last part takes all that is left of the list.
// region: libmini/data/partition.cpp 1
    std::vector<int64_t> index(static_cast<size_t>(n));
    std::iota(index.begin(), index.end(), int64_t{0});
    PythonRandom(options.seed).shuffle(index);
    auto begin = index.begin();
    for (size_t part = 0; part < lengths.size(); ++part) {
        const auto end =
            part + 1 < lengths.size() ? begin + lengths[part] : index.end();
        partitions_.emplace_back(begin, end);
        begin = end;
    }
