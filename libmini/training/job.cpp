#include "libmini/training/job.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "libmini/data/distributed_eval_sampler.hpp"
#include "libmini/data/distributed_sampler.hpp"
#include "libmini/data/partition.hpp"

namespace mini::training {

using data::DataLoader;

namespace {

// The layers of the ConvNet need 50 KiB an image: 10 MiB for a batch. Batches of 1,000,
// as in PyTorch's example, would need more memory than the training images.
constexpr int64_t kTestBatch = 200;

// Gives a rank its samples in file order.
class FileOrderSampler : public data::Sampler {
  public:
    FileOrderSampler(int64_t dataset_size, int64_t batch_size, int rank, int world_size) {
        for (int64_t start = 0; start < dataset_size; start += batch_size) {
            const int64_t share = std::min(batch_size, dataset_size - start) / world_size;
            for (int64_t i = 0; i < share; ++i)
                indices_.push_back(start + rank * share + i);
        }
    }
    std::vector<int64_t> indices() override { return indices_; }
    int64_t size() const override { return static_cast<int64_t>(indices_.size()); }

  private:
    std::vector<int64_t> indices_;
};

}  // namespace

JobData load_data(const data::DataChoice& choice) {
    return {data::load_data(choice, /*train=*/true),
            data::load_data(choice, /*train=*/false)};
}

DataLoader training_loader(const Options& options, const JobData& data, int rank,
                           int world_size, Device device) {
    data::DataLoaderOptions loading{.batch_size = options.batch_size / world_size,
                                    .num_workers = options.workers,
                                    .pin_memory = device.is_cuda()};
    if (options.order == "file") {
        // File order needs no random numbers. A generator of its own for the loader
        // leaves the model's draws unchanged.
        loading.generator = std::make_shared<Generator>();
        loading.sampler = std::make_shared<FileOrderSampler>(
            data.train->size(), options.batch_size, rank, world_size);
        return {data.train, loading};
    }
    if (options.partition == "tutorial") {
        const std::vector<double> sizes(static_cast<size_t>(world_size),
                                        1.0 / world_size);
        const data::DataPartitioner partitioner(data.train, sizes);
        loading.shuffle = true;
        return {std::make_shared<data::Partition>(partitioner.use(rank)), loading};
    }
    loading.sampler = std::make_shared<data::DistributedSampler>(
        data.train->size(),
        data::DistributedSamplerOptions{
            .num_replicas = world_size, .rank = rank, .seed = options.seed});
    return {data.train, loading};
}

DataLoader test_loader(const JobData& data, int rank, int world_size) {
    const auto sampler = std::make_shared<data::DistributedEvalSampler>(
        data.test->size(),
        data::DistributedEvalSamplerOptions{.num_replicas = world_size, .rank = rank});
    return {data.test, {.batch_size = kTestBatch, .sampler = sampler}};
}

}  // namespace mini::training
