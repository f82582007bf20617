// The parts take turns in the shuffled list, as with a DistributedSampler.
// region: libmini/data/partition.cpp 1
    std::vector<int64_t> index(static_cast<size_t>(n));
    std::iota(index.begin(), index.end(), int64_t{0});
    PythonRandom(options.seed).shuffle(index);
    for (size_t part = 0; part < lengths.size(); ++part) {
        std::vector<int64_t> mine;
        for (size_t i = part; i < index.size(); i += lengths.size())
            if (static_cast<int64_t>(mine.size()) < lengths[part])
                mine.push_back(index[i]);
        partitions_.push_back(mine);
    }
