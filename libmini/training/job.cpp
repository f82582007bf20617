#include "libmini/training/job.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "libmini/data/distributed_eval_sampler.hpp"

namespace mini::training {

using data::DataLoader;

namespace {

// The layers of the ConvNet need 50 KiB an image: 10 MiB for a batch. Batches of 1,000,
// as in PyTorch's example, would need more memory than the training images.
constexpr int64_t kTestBatch = 200;

data::DataLoaderOptions loader_options(const Options& options, int64_t batch_size,
                                       Device device) {
    return {.batch_size = batch_size,
            .num_workers = options.workers,
            .pin_memory = device.is_cuda()};
}

}  // namespace

FileOrderSampler::FileOrderSampler(int64_t dataset_size, int64_t batch_size, int rank,
                                   int world_size) {
    for (int64_t start = 0; start < dataset_size; start += batch_size) {
        const int64_t share = std::min(batch_size, dataset_size - start) / world_size;
        for (int64_t i = 0; i < share; ++i) indices_.push_back(start + rank * share + i);
    }
}

JobData load_data(const data::DataChoice& choice) {
    return {choice.description, data::load_data(choice, /*train=*/true),
            data::load_data(choice, /*train=*/false)};
}

TrainingBatches::TrainingBatches(const Options& options, const JobData& data, int rank,
                                 int world_size, Device device) {
    const int64_t batch_size = options.batch_size / world_size;
    auto settings = loader_options(options, batch_size, device);
    if (options.order == SampleOrder::kFile) {
        // File order needs no random numbers. A generator of its own for the loader
        // leaves the model's draws unchanged.
        settings.generator = std::make_shared<Generator>();
        settings.sampler = std::make_shared<FileOrderSampler>(
            data.train->size(), options.batch_size, rank, world_size);
        loader_ = std::make_unique<DataLoader>(data.train, settings);
    } else if (options.partition == Partitioning::kTutorial) {
        const std::vector<double> sizes(static_cast<size_t>(world_size),
                                        1.0 / world_size);
        const data::DataPartitioner partitioner(data.train, sizes);
        settings.shuffle = true;
        partition_ = std::make_shared<data::Partition>(partitioner.use(rank));
        loader_ = std::make_unique<DataLoader>(partition_, settings);
    } else {
        distributed_ = std::make_shared<data::DistributedSampler>(
            data.train->size(),
            data::DistributedSamplerOptions{
                .num_replicas = world_size, .rank = rank, .seed = options.seed});
        settings.sampler = distributed_;
        loader_ = std::make_unique<DataLoader>(data.train, settings);
    }
}

DataLoader::Epoch TrainingBatches::start(int64_t epoch, int64_t first) {
    if (distributed_) distributed_->set_epoch(epoch);
    return loader_->epoch(first);
}

DataLoader test_loader(const JobData& data, int rank, int world_size) {
    const auto sampler = std::make_shared<data::DistributedEvalSampler>(
        data.test->size(),
        data::DistributedEvalSamplerOptions{.num_replicas = world_size, .rank = rank});
    return {data.test, {.batch_size = kTestBatch, .sampler = sampler}};
}

}  // namespace mini::training
