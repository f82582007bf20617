#include "libmini/data/loader.hpp"

#include <algorithm>
#include <exception>
#include <string>

#include "libmini/core/error.hpp"
#include "libmini/random/random.hpp"

namespace mini::data {
namespace {

using Options = DataLoaderOptions;

// Longer waits would overflow the clock.
constexpr std::chrono::milliseconds kLongestWait = std::chrono::hours(24 * 365);

void check_at_least(const char* name, int64_t value, int64_t minimum) {
    if (value < minimum)
        throw UsageError("DataLoader: ", name, " is ", value, " but must be at least ",
                         minimum);
}

// Throws UsageError if shuffle is given with sampler, or if options are given that
// batch_sampler replaces.
void check_exclusions(const Options& options) {
    if (options.shuffle && options.sampler)
        throw UsageError(
            "DataLoader: shuffle and sampler exclude each other, since a sampler decides "
            "the order itself; leave shuffle out, and let the sampler shuffle "
            "(DistributedSampler does by default)");
    if (!options.batch_sampler) return;

    std::string extra;
    if (options.batch_size != 1) extra += concat(", batch_size = ", options.batch_size);
    if (options.shuffle) extra += ", shuffle";
    if (options.sampler) extra += ", sampler";
    if (options.drop_last) extra += ", drop_last";
    if (!extra.empty())
        throw UsageError(
            "DataLoader: batch_sampler alone decides which samples go "
            "into which batch; leave out ",
            extra.substr(2), ", or give it to the batch sampler");
}

void check_options(const Options& options) {
    check_exclusions(options);
    check_at_least("batch_size", options.batch_size, 1);
    check_at_least("num_workers", options.num_workers, 0);
    check_at_least("prefetch_factor", options.prefetch_factor, 1);
    check_at_least("timeout, in milliseconds,", options.timeout.count(), 1);
}

std::shared_ptr<Sampler> choose_sampler(const Options& options, int64_t dataset_size) {
    if (options.sampler) return options.sampler;
    if (options.shuffle)
        return std::make_shared<RandomSampler>(
            dataset_size, RandomSamplerOptions{.generator = options.generator});
    return std::make_shared<SequentialSampler>(dataset_size);
}

std::shared_ptr<BatchSource> choose_batches(const Options& options,
                                            int64_t dataset_size) {
    if (options.batch_sampler) return options.batch_sampler;
    return std::make_shared<BatchSampler>(choose_sampler(options, dataset_size),
                                          options.batch_size, options.drop_last);
}

// Fetches batch k. If a std::exception is thrown, throws an Error that names the batch,
// with the exception nested in it.
Batch fetch(size_t k, const std::vector<int64_t>& indices, const Dataset& dataset,
            const Collate& collate, bool pin_memory) {
    try {
        Batch batch =
            collate ? collate(get_each(dataset, indices)) : dataset.get_batch(indices);
        if (pin_memory) batch = {batch.data.pin_memory(), batch.target.pin_memory()};
        return batch;
    } catch (const std::exception& e) {
        std::throw_with_nested(Error("DataLoader: batch ", k, ": ", e.what()));
    }
}

}  // namespace

DataLoader::DataLoader(std::shared_ptr<const Dataset> dataset, DataLoaderOptions options)
    : dataset_(std::move(dataset)), options_(std::move(options)) {
    if (!dataset_) throw UsageError("DataLoader: no dataset was given");
    check_options(options_);
    batch_sampler_ = choose_batches(options_, dataset_->size());
}

int64_t DataLoader::size() const { return batch_sampler_->size(); }

void DataLoader::set_epoch(int64_t epoch) { batch_sampler_->set_epoch(epoch); }

DataLoader::Epoch DataLoader::epoch(int64_t first) {
    check_at_least("the first batch", first, 0);

    // Draw the base seed before the sampler draws.
    Generator& generator = options_.generator ? *options_.generator : default_generator();
    const auto base_seed = static_cast<uint64_t>(generator.random_int64());

    std::vector<std::vector<int64_t>> batches = batch_sampler_->batches();
    const size_t end = batches.size();
    return Epoch(
        {.fetch = [dataset = dataset_, batches = std::move(batches),
                   collate = options_.collate, pin = options_.pin_memory](
                      size_t k) { return fetch(k, batches[k], *dataset, collate, pin); },
         .first = std::min(static_cast<size_t>(first), end),
         .end = end,
         .base_seed = base_seed,
         .num_workers = options_.num_workers,
         .prefetch_factor = options_.prefetch_factor,
         .timeout = std::min(options_.timeout, kLongestWait)});
}

}  // namespace mini::data
