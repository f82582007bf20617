#include "libmini/data/partition_dataset.hpp"

#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/data/replica.hpp"

namespace mini::data {
namespace {

void check_batch(int64_t batch_size, int size) {
    if (batch_size < size)
        throw UsageError(concat("partition_dataset: a batch of ", batch_size,
                                " cannot be shared by ", size,
                                " ranks; use fewer ranks or a larger batch"));
}

void check_part(const Partition& part, int64_t n, World world) {
    if (part.size() == 0)
        throw UsageError(concat("partition_dataset: no sample is left for rank ",
                                world.rank, " of ", world.size, ": the dataset has ", n,
                                "; use fewer ranks"));
}

}  // namespace

PartitionedDataset partition_dataset(std::shared_ptr<const Dataset> dataset,
                                     const PartitionDatasetOptions& options) {
    if (!dataset) throw UsageError("partition_dataset: no dataset was given");
    const int64_t n = dataset->size();
    const World world =
        choose_replica("partition_dataset", options.world_size, options.rank);
    check_batch(options.batch_size, world.size);

    // [lab07.6] Split the dataset and the batch equally, and load this rank's part.
    const std::vector<double> partition_sizes(static_cast<size_t>(world.size),
                                              1.0 / world.size);
    const DataPartitioner partitioner(std::move(dataset), partition_sizes,
                                      options.partitioner);
    const auto partition = std::make_shared<Partition>(partitioner.use(world.rank));
    check_part(*partition, n, world);
    const int64_t bsz = options.batch_size / world.size;
    const DataLoaderOptions loading = {.batch_size = bsz, .shuffle = true};
    return {DataLoader(partition, loading), bsz};
    // [lab07.6]
}

}  // namespace mini::data
