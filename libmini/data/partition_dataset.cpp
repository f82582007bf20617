#include "libmini/data/partition_dataset.hpp"

#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/data/distributed_sampler.hpp"

namespace mini::data {

PartitionedDataset partition_dataset(std::shared_ptr<const Dataset> dataset,
                                     const PartitionDatasetOptions& options) {
    if (!dataset) throw UsageError("partition_dataset: no dataset was given");
    const int64_t n = dataset->size();
    const auto [rank, size] =
        choose_replica("partition_dataset", options.world_size, options.rank);

    // Share the batch out equally.
    const int64_t bsz = options.batch_size / size;
    if (bsz < 1)
        throw UsageError(concat("partition_dataset: a batch of ", options.batch_size,
                                " cannot be shared by ", size,
                                " ranks; use fewer ranks or a larger batch"));

    // Share the dataset out equally.
    const std::vector<double> partition_sizes(static_cast<size_t>(size), 1.0 / size);
    const DataPartitioner partitioner(std::move(dataset), partition_sizes,
                                      options.partitioner);
    const auto partition = std::make_shared<Partition>(partitioner.use(rank));
    if (partition->size() == 0)
        throw UsageError(concat("partition_dataset: of ", n,
                                " samples none is left for "
                                "rank ",
                                rank, " of ", size, "; use fewer ranks"));

    const DataLoaderOptions loading = {.batch_size = bsz, .shuffle = true};
    return {DataLoader(partition, loading), bsz};
}

}  // namespace mini::data
