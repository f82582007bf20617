#include "libmini/data/partition_dataset.hpp"

#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/data/replica.hpp"

// [lab07 file]
namespace mini::data {

PartitionedDataset partition_dataset(std::shared_ptr<const Dataset> dataset,
                                     const PartitionDatasetOptions& options) {
    if (!dataset) throw UsageError("partition_dataset: no dataset was given");
    const int64_t n = dataset->size();
    const World world =
        choose_replica("partition_dataset", options.world_size, options.rank);
    if (options.batch_size < world.size)
        throw UsageError("partition_dataset: a batch of ", options.batch_size,
                         " cannot be shared by ", world.size,
                         " ranks; use fewer ranks or a larger batch");

    // [lab07.5] Split the dataset and the batch equally, and load this rank's part.
    const std::vector<double> partition_sizes(static_cast<size_t>(world.size),
                                              1.0 / world.size);
    const DataPartitioner partitioner(std::move(dataset), partition_sizes,
                                      options.partitioner);
    const auto partition = std::make_shared<Partition>(partitioner.use(world.rank));
    if (partition->size() == 0)
        throw UsageError("partition_dataset: no sample is left for rank ", world.rank,
                         " of ", world.size, ": the dataset has ", n,
                         "; use fewer ranks");
    const int64_t bsz = options.batch_size / world.size;
    const DataLoaderOptions loading = {.batch_size = bsz, .shuffle = true};
    return {DataLoader(partition, loading), bsz};
    // [lab07.5]
}

}  // namespace mini::data
// [lab07 file]
