#include "libmini/data/make_sampler.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/data/distributed_sampler.hpp"
#include "libmini/data/grouped_batch_sampler.hpp"

namespace mini::data {
namespace {

// Returns height / width of a sample's data (..., H, W).
double aspect_ratio(const Dataset& dataset, int64_t i) {
    const Tensor image = dataset.get(i).data;
    check_shape(image.dim() >= 2 && image.numel() > 0, "make_batch_data_sampler: sample ",
                i, " is ", image.shape(), ", which is not an image (..., H, W)");
    return static_cast<double>(image.size(-2)) / static_cast<double>(image.size(-1));
}

// Returns the group of each sample: the number of borders that its ratio reaches.
std::vector<int64_t> groups_of(const Dataset& dataset, std::vector<double> borders) {
    for (size_t i = 0; i < borders.size(); ++i)
        if (!std::isfinite(borders[i]))
            throw UsageError("make_batch_data_sampler: aspect_grouping border ", i,
                             " is ", borders[i], " but must be finite");
    std::sort(borders.begin(), borders.end());

    std::vector<int64_t> groups;
    for (int64_t i = 0; i < dataset.size(); ++i)
        groups.push_back(std::ranges::upper_bound(borders, aspect_ratio(dataset, i)) -
                         borders.begin());
    return groups;
}

}  // namespace

std::shared_ptr<Sampler> make_data_sampler(const Dataset& dataset, bool shuffle,
                                           bool distributed) {
    if (distributed)
        return std::make_shared<DistributedSampler>(
            dataset, DistributedSamplerOptions{.shuffle = shuffle});
    if (shuffle) return std::make_shared<RandomSampler>(dataset.size());
    return std::make_shared<SequentialSampler>(dataset.size());
}

std::shared_ptr<BatchSource> make_batch_data_sampler(
    const Dataset& dataset, std::shared_ptr<Sampler> sampler,
    const BatchDataSamplerOptions& options) {
    // Group images of similar shape, if aspect_grouping is given.
    std::shared_ptr<BatchSource> batches;
    if (options.aspect_grouping.empty())
        batches =
            std::make_shared<BatchSampler>(std::move(sampler), options.images_per_gpu);
    else
        batches = std::make_shared<GroupedBatchSampler>(
            std::move(sampler), groups_of(dataset, options.aspect_grouping),
            options.images_per_gpu);

    // Count iterations instead of epochs, if num_iters is given.
    if (!options.num_iters) return batches;
    return std::make_shared<IterationBasedBatchSampler>(
        std::move(batches), *options.num_iters, options.start_iter);
}

}  // namespace mini::data
