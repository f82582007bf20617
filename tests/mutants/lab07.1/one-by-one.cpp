// A batch is fetched sample by sample, past the dataset's own way to read one.
// region: libmini/data/partition.cpp 3
    std::vector<Example> examples;
    for (const int64_t i : indices) examples.push_back(get(i));
    return collate(examples);
