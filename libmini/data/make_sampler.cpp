#include "libmini/data/make_sampler.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/data/distributed_sampler.hpp"
#include "libmini/data/grouped_batch_sampler.hpp"

namespace mini::data {
namespace {

void check_finite(const char* what, const std::vector<double>& values) {
    for (size_t i = 0; i < values.size(); ++i)
        if (!std::isfinite(values[i]))
            throw UsageError(concat("make_batch_data_sampler: ", what, " ", i, " is ",
                                    values[i], " but must be finite"));
}

// Returns the group of each value: the number of borders less than or equal to it.
std::vector<int64_t> quantize(const std::vector<double>& values,
                              std::vector<double> borders) {
    check_finite("aspect ratio", values);
    check_finite("aspect_grouping border", borders);
    std::sort(borders.begin(), borders.end());

    std::vector<int64_t> groups;
    groups.reserve(values.size());
    for (const double value : values)
        groups.push_back(std::upper_bound(borders.begin(), borders.end(), value) -
                         borders.begin());
    return groups;
}

std::shared_ptr<BatchSource> make_grouped_sampler(
    const Dataset& dataset, std::shared_ptr<Sampler> sampler,
    const BatchDataSamplerOptions& options) {
    const std::vector<double> ratios = options.aspect_ratios.empty()
                                           ? compute_aspect_ratios(dataset)
                                           : options.aspect_ratios;
    if (static_cast<int64_t>(ratios.size()) != dataset.size())
        throw UsageError(concat("make_batch_data_sampler: there are ", ratios.size(),
                                " aspect_ratios for ", dataset.size(),
                                " samples; give one for each"));
    return std::make_shared<GroupedBatchSampler>(
        std::move(sampler), quantize(ratios, options.aspect_grouping),
        options.images_per_gpu);
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

std::vector<double> compute_aspect_ratios(const Dataset& dataset) {
    std::vector<double> ratios;
    ratios.reserve(static_cast<size_t>(dataset.size()));
    for (int64_t i = 0; i < dataset.size(); ++i) {
        const Tensor image = dataset.get(i).data;  // (..., H, W)
        if (image.dim() < 2 || image.numel() == 0)
            throw ShapeError(concat("compute_aspect_ratios: sample ", i, " is ",
                                    image.shape(),
                                    ", which is not an image (..., H, W)"));
        ratios.push_back(static_cast<double>(image.size(-2)) /
                         static_cast<double>(image.size(-1)));
    }
    return ratios;
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
        batches = make_grouped_sampler(dataset, std::move(sampler), options);

    // Count iterations instead of epochs, if num_iters is given.
    if (!options.num_iters) return batches;
    return std::make_shared<IterationBasedBatchSampler>(
        std::move(batches), *options.num_iters, options.start_iter);
}

}  // namespace mini::data
