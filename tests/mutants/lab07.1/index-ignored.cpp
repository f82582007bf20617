// Sample i is the dataset's sample i, whatever the index says.
// region: libmini/data/partition.cpp 2
    return dataset_->get(i);
